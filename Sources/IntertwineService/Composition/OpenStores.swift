internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging

struct OpenStores: Sendable {
    let declared: Declarations
    let location: any ItemLocation
    /// The files of the store; nil if items and ledger are in a PostgreSQL database.
    let files: StoreFiles?
    let store: any ItemStore
    let ledger: any PersistentLedger
    /// Returns milliseconds since 1970-01-01 UTC.
    let clock: @Sendable () -> Int64
    let ring: KeyRing
    let streams: [String: StreamID]
    fileprivate let createsKey: Bool
    fileprivate let logger: Logger

    var servedFiles: [(name: String, file: ServedFile)] {
        [("items", (store as? SQLiteStore)?.file), ("ledger", (ledger as? SQLiteLedger)?.file)].compactMap { name, file in
            file.map { (name: name, file: $0) }
        }
    }

    func prepare() throws {
        identifyFiles()
        let arranged = try store.arrange(declared.feeds.plans) {
            logger.notice("assigning the items of the store to the configured sections")
        }
        guard streams.allSatisfy({ arranged[$0.key] == $0.value }) else {
            throw StoreError.unavailable("another process has just assigned the items of the store to other sections")
        }
    }

    /// Each database becomes one complete file, so that it can be copied.
    func close() async {
        identifyFiles()
        do {
            try await ledger.complete()
            try await store.completeFile()
        } catch {
            logger.notice("a database keeps its -wal file, which has commits", metadata: ["error": "\(error)"])
        }
    }

    private func identifyFiles() {
        guard let files, let items = store as? SQLiteStore, let events = ledger as? SQLiteLedger else { return }
        do {
            try files.identify(items, events, key: createsKey ? ring.keys.current.name : nil)
        } catch {
            logger.notice("the identity of the database files was not updated", metadata: ["error": "\(error)"])
        }
    }
}

extension ServiceBuilder {
    func openStores() throws -> OpenStores {
        let settings = configuration.store
        settings.makeDataFolder()
        let declared = try configuration.declarations(extensions)
        let location = try settings.items()
        let files = try configuration.storeFiles()
        for fault in files?.faults ?? [] { logger.warning("data loss is accepted", metadata: ["reason": "\(fault)"]) }
        let store = try location.open(reading: settings.reading)
        let ledger = try configuration.openLedger(beside: store, now: extensions.clock)
        // The keys come after the stores, whose error about a missing folder is clearer.
        return OpenStores(
            declared: declared, location: location, files: files?.files, store: store, ledger: ledger,
            clock: extensions.clock ?? ledger.now, ring: try configuration.keyRing(),
            streams: try store.streams(declared.feeds.plans),
            createsKey: configuration.signing.key.isEmpty, logger: logger)
    }
}
