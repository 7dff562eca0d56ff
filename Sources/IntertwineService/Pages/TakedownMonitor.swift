internal import IntertwineFeed
internal import IntertwineStorage
internal import Logging

/// Ends the delivery of items that are taken down: neither stale pages (`feed.max-staleness`) nor images of them are served.
struct TakedownMonitor: PeriodicService {
    let interval = Duration.milliseconds(250)

    let store: any ItemStore
    let live: ReloadableApplication
    let images: TakedownImageFilter
    /// Returns milliseconds since 1970-01-01 UTC.
    let now: @Sendable () -> Int64
    let logger: Logger
    private(set) var version: StoreVersion?
    private(set) var lastVersion: TakedownVersion?

    mutating func perform() async {
        let current = store.version
        guard current != version else { return }
        do {
            let found = try await images.read()
            if let lastVersion, found != lastVersion { live.current.pages.forget(now: now()) }
            (version, lastVersion) = (current, found)
        } catch {
            logger.debug("takedowns cannot be read", metadata: ["error": "\(error)"])
        }
    }
}
