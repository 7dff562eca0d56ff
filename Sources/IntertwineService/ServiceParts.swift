internal import Foundation
internal import IntertwineFeed
internal import IntertwineObservability
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging

/// What stays for as long as the process: files, keys, caches, counters.
struct ServiceParts: Sendable {
    let keys: SigningKeys
    let store: SQLiteStore
    let ledger: SQLiteLedger
    let registry: CommandRegistry
    let extensions: ServiceExtensions
    /// The kinds of item that can be imported.
    let kinds: ItemKinds
    /// The file that declares some of them, as it was at the start: a change of it is for the next start.
    let kindsText: String?
    let feeds: DeclaredFeeds
    /// Where the store keeps the items of each section, from ``arrange()`` on.
    let lanes: [String: Lane]
    let advertisementPrefixes: [String]
    let pictures: PictureProxy
    let sources: SourcePolling
    let state = ServiceState()
    let telemetry: Telemetry
    let pageMetrics: PageMetrics
    let cellCounters = FinishedCells.Counters()
    let clock: @Sendable () -> Int64 = WallClock.now
    let logger: Logger

    init(configuration: ServiceConfiguration, extensions: ServiceExtensions, telemetry: Telemetry, logger: Logger) throws {
        configuration.store.makeDataFolder()
        let declarations = try configuration.declarations(extensions)
        store = try SQLiteStore(path: configuration.store.database, reading: configuration.store.reading)
        ledger = try SQLiteLedger(
            path: configuration.store.ledgerDatabase, waiting: configuration.ledger.queue, group: configuration.ledger.group,
            lockTimeout: Double(configuration.ledger.patience.milliseconds) / 1_000, reading: configuration.store.reading)
        // After the stores, whose complaint about a missing folder says more.
        keys = try configuration.signingKeys()
        registry = declarations.registry
        self.extensions = extensions
        kindsText = declarations.kindsText
        kinds = declarations.kinds
        feeds = declarations.file.feeds
        advertisementPrefixes = declarations.file.advertisementPrefixes
        lanes = try store.lanes(feeds.plans)
        pictures = try PictureProxy(configuration: configuration, keys: keys, logger: logger)
        sources = SourcePolling(declarations.sources, configuration, into: store, now: clock, logger: logger)
        self.telemetry = telemetry
        pageMetrics = PageMetrics(registry: telemetry.registry)
        self.logger = logger
    }

    /// Lays the store out as the feeds want it: the first thing that a start writes, when nothing is left that can stop it.
    ///
    /// - Throws: `StoreError`, also where another process has just laid it out for other sections.
    func arrange() throws {
        let arranged = try store.arrange(feeds.plans) { logger.notice("laying the store out in the sections that are configured") }
        guard lanes.allSatisfy({ arranged[$0.key] == $0.value }) else {
            throw StoreError.unavailable("another process has just laid the store out for other sections")
        }
    }
}
