internal import IntertwineFeed
internal import IntertwineStorage
internal import Logging
internal import ServiceLifecycle

/// Where pages of a moment ago are served (`feed.stale`), none of them shows what has been taken down for a second.
///
/// Any process on the store may take items down: whether one has is looked up where the store has changed, four times a second.
struct TakedownWatch: Service {
    private static let interval = Duration.milliseconds(250)

    let store: any ItemStore
    let live: LiveComposition
    /// Milliseconds since 1970-01-01 UTC.
    let now: @Sendable () -> Int64
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var version: StoreVersion?
            var mark: TakedownMark?
            while (try? await Task.sleep(for: Self.interval)) != nil {
                guard live.configuration.feed.stale > .zero else { continue }
                let current = store.version
                guard current != version else { continue }
                do {
                    let found = try await store.takedownMark()
                    if let mark, found != mark { live.current.pages.forget(now: now()) }
                    (version, mark) = (current, found)
                } catch {
                    logger.debug("what is taken down cannot be read", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
