internal import IntertwineCells
internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwineItems
internal import IntertwineLedger
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import IntertwineSync
internal import IntertwineTrackers
internal import Logging

/// The declarations of the configuration, the databases and the signing keys.
struct OpenStores: Sendable {
    let declared: Declarations
    /// The location of the items.
    let location: any ItemLocation
    /// The files of the store; nil if items or ledger are not in a file of the service.
    let files: StoreFiles?
    /// The service's own store; nil if the program provides one.
    let ownStore: (any ItemStore)?
    let store: any FeedStore
    /// The service's own ledger; nil if the program provides one.
    let ownLedger: (any PersistentLedger)?
    let ledger: any Ledger
    /// Returns milliseconds since 1970-01-01 UTC. Replicas decide by the clock of their database.
    let clock: @Sendable () -> Int64
    let ring: KeyRing
    /// The stream of each declared section.
    let streams: [String: StreamID]
    /// A Boolean value indicating whether the service creates the signing key.
    fileprivate let createsKey: Bool
    fileprivate let logger: Logger

    var archive: (any LedgerArchive)? { ownLedger ?? (ledger as? any LedgerArchive) }
    var trackerLedger: (any TrackerLedger)? { ownLedger ?? (ledger as? any TrackerLedger) }
    var campaignLedger: (any CampaignLedger)? { ledger as? any CampaignLedger }
    var servedFiles: [(name: String, file: ServedFile)] {
        [("items", (ownStore as? SQLiteStore)?.file), ("ledger", (ownLedger as? SQLiteLedger)?.file)].compactMap { name, file in
            file.map { (name: name, file: $0) }
        }
    }

    /// Assigns the items to the declared sections.
    ///
    /// - Throws: `StoreError`, also if another process has just assigned them to others.
    func prepare() throws {
        identifyFiles()
        guard let ownStore else { return }
        let arranged = try ownStore.arrange(declared.feeds.plans) {
            logger.notice("assigning the items of the store to the configured sections")
        }
        guard streams.allSatisfy({ arranged[$0.key] == $0.value }) else {
            throw StoreError.unavailable("another process has just assigned the items of the store to other sections")
        }
    }

    /// Ends all writes. Each database becomes one complete file, so that it can be copied.
    func close() async {
        identifyFiles()
        do {
            try await ownLedger?.complete()
            try await ownStore?.completeFile()
        } catch {
            logger.notice("a database keeps its -wal file, which has commits", metadata: ["error": "\(error)"])
        }
    }

    private func identifyFiles() {
        guard let files, let items = ownStore as? SQLiteStore, let events = ownLedger as? SQLiteLedger else { return }
        do {
            try files.identify(items, events, key: createsKey ? ring.keys.current.name : nil)
        } catch {
            logger.notice("the identity of the database files was not updated", metadata: ["error": "\(error)"])
        }
    }
}

extension ServiceBuilder {
    /// Reads the declarations and opens the databases. A program's own store and ledger have no files here.
    func openStores() throws -> OpenStores {
        let settings = configuration.store
        settings.makeDataFolder()
        let declared = try configuration.declarations(extensions)
        let location = try settings.items()
        let files = try configuration.storeFiles(extensions)
        for fault in files?.faults ?? [] { logger.warning("data loss is accepted", metadata: ["reason": "\(fault)"]) }
        if extensions.store != nil { try declared.checkNeedsNoFile() }
        let ownStore = extensions.store == nil ? try location.open(reading: settings.reading) : nil
        let ownLedger = extensions.ledger == nil ? try configuration.openLedger(beside: ownStore, now: extensions.clock) : nil
        guard let store = extensions.store ?? ownStore, let ledger = extensions.ledger ?? ownLedger else {
            preconditionFailure("a store is provided or opened")
        }
        // The keys come after the stores, whose error about a missing folder is clearer.
        return OpenStores(
            declared: declared, location: location, files: files?.files, ownStore: ownStore, store: store, ownLedger: ownLedger,
            ledger: ledger, clock: extensions.clock ?? ownLedger?.now ?? WallClock.now, ring: try configuration.keyRing(),
            streams: try ownStore?.streams(declared.feeds.plans) ?? [DeclaredFeeds.mainName: .content],
            createsKey: configuration.signing.key.isEmpty, logger: logger)
    }
}
