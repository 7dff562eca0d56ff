internal import IntertwineFeed
internal import IntertwineStorage
internal import Logging
internal import ServiceLifecycle

/// Has nothing served for long that has been taken down: no page of a moment ago (`feed.stale`), and no picture.
///
/// Any process on the store may take items down: what is taken down is read when the store has changed, four times a second at the most.
struct TakedownMonitor: Service {
    private static let interval = Duration.milliseconds(250)

    let store: any ItemStore
    let live: ReloadableApplication
    let pictures: TakedownImageFilter
    /// Milliseconds since 1970-01-01 UTC.
    let now: @Sendable () -> Int64
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var version: StoreVersion?
            var mark: TakedownVersion?
            while (try? await Task.sleep(for: Self.interval)) != nil {
                let current = store.version
                guard current != version else { continue }
                do {
                    let found = try await store.takedownVersion()
                    if let mark, found != mark { live.current.pages.forget(now: now()) }
                    try await pictures.read()
                    (version, mark) = (current, found)
                } catch {
                    logger.debug("what is taken down cannot be read", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
