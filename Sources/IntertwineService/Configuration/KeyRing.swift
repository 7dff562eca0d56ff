internal import IntertwineFeed
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The keys in force, which may be others later: those of replicas are kept in their database.
final class KeyRing: Sendable {
    private let state: Mutex<SigningKeys>
    private let read: (@Sendable () async throws -> SigningKeys)?

    /// - Parameter read: finds out which are valid now; nil where no others ever come.
    init(_ keys: SigningKeys, read: (@Sendable () async throws -> SigningKeys)? = nil) {
        state = Mutex(keys)
        self.read = read
    }

    var keys: SigningKeys { state.withLock { $0 } }

    var mayChange: Bool { read != nil }

    /// Finds out which are valid now.
    ///
    /// - Returns: whether they are others than before.
    func refresh() async throws -> Bool {
        guard let read else { return false }
        let keys = try await read()
        return state.withLock { state in
            defer { state = keys }
            return state != keys
        }
    }
}

/// Looks now and then whether the keys have been rotated.
struct KeyRefresher: ServiceLifecycle.Service {
    let ring: KeyRing
    let interval: Duration
    /// Called with other keys, until it succeeds.
    let changed: @Sendable (SigningKeys) async throws -> Void
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isPending = false
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                // A database that is away is told of by those who need it.
                if (try? await ring.refresh()) == true { isPending = true }
                guard isPending else { continue }
                do {
                    try await changed(ring.keys)
                    isPending = false
                    logger.notice("other signing keys are in force")
                } catch {
                    logger.error("other signing keys are not in force yet", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
