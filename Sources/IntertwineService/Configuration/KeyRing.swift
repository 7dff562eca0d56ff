internal import IntertwineFeed
internal import Logging
internal import Synchronization

/// They can change, because replicas store their keys in the database.
final class KeyRing: Sendable {
    private let state: Mutex<SigningKeys>
    private let read: (@Sendable () async throws -> SigningKeys)?
    /// Returns the time at which the newest key was created, in milliseconds since 1970-01-01 UTC; nil if it is not known.
    let creation: @Sendable () -> Int64?

    /// `read`: Reads the valid keys; nil if the keys never change.
    init(
        _ keys: SigningKeys, creation: @escaping @Sendable () -> Int64? = { nil }, read: (@Sendable () async throws -> SigningKeys)? = nil
    ) {
        state = Mutex(keys)
        (self.creation, self.read) = (creation, read)
    }

    var keys: SigningKeys { state.withLock { $0 } }

    var mayChange: Bool { read != nil }

    func refresh() async throws -> Bool {
        guard let read else { return false }
        let keys = try await read()
        return state.withLock { state in
            defer { state = keys }
            return state != keys
        }
    }
}

struct KeyRefresher: PeriodicService {
    let interval = Duration.seconds(2)
    let ring: KeyRing
    let changed: @Sendable (SigningKeys) async throws -> Void
    let logger: Logger
    private var isPending = false

    init(ring: KeyRing, changed: @escaping @Sendable (SigningKeys) async throws -> Void, logger: Logger) {
        (self.ring, self.changed, self.logger) = (ring, changed, logger)
    }

    mutating func perform() async {
        // An unavailable database is reported by the parts that need it.
        if (try? await ring.refresh()) == true { isPending = true }
        guard isPending else { return }
        do {
            try await changed(ring.keys)
            isPending = false
            logger.notice("other signing keys are in force")
        } catch {
            logger.error("other signing keys are not in force yet", metadata: ["error": "\(error)"])
        }
    }
}
