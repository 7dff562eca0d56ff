import GRDB
import IntertwineFeed

/// Writes an import into a store that others may be using: gathered beside it, however long the input takes to come, and then put there in one
/// transaction, which readers do not see before it is committed. Other writes of items wait for that transaction alone.
struct StoreDestination: ImportDestination {
    /// Items that are put there at once.
    private static let batchSize = 256

    private let pool: DatabasePool
    private let sections: [SectionConfiguration]
    private let stage: SpoolFile
    /// What the transaction is written with; nil before it begins.
    private var writer: ItemWriter?
    private var isOver = false

    /// Opens the store, and makes it where there is none.
    ///
    /// - Parameter sections: how the store is to be laid out; as it is where empty.
    init(_ path: String, sections: [SectionConfiguration]) throws {
        pool = try ItemSchema.file(path).open(Self.configuration)
        try pool.syncCommits()
        self.sections = sections
        stage = SpoolFile(beside: path)
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // For as long as another import may take.
        configuration.busyMode = .timeout(60)
        configuration.maximumReaderCount = 1
        configuration.label = "intertwine.import"
        // The transaction spans several calls.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            // 64 MiB: what of the id index stays in memory decides how fast items with random ids go in.
            try database.execute(sql: "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -65536; PRAGMA mmap_size = 0")
        }
        return configuration
    }

    /// Which of them are new is known once they are put there.
    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts {
        try stage.append(batch)
        return ImportCounts(added: batch.count)
    }

    /// The transaction begins with the first call.
    mutating func finish() throws -> ImportCounts {
        var corrections = ImportCounts()
        try pool.writeWithoutTransaction { database in
            var writer = try writer ?? begin(database)
            defer { self.writer = writer }
            try stage.drain(inBatchesOf: Self.batchSize) { batch in
                for item in batch { corrections.count(try writer.upsert(item), of: item) }
                corrections.added -= batch.count
            }
        }
        return corrections
    }

    func find(_ keys: [ItemKey]) throws -> FoundItems {
        try pool.writeWithoutTransaction { try ItemSchema.find(keys, in: $0, TakedownTable($0)) }
    }

    mutating func commit() throws -> ImportCounts {
        try pool.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        isOver = true
        return ImportCounts()
    }

    mutating func rollback() {
        guard !isOver else { return }
        isOver = true
        // If this fails there is no transaction, or none any more, or closing the connection ends it.
        try? pool.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    private func begin(_ database: Database) throws -> ItemWriter {
        try database.execute(sql: "BEGIN IMMEDIATE")
        if !sections.isEmpty, try !SectionLayout(database).isLaid(sections, in: database) {
            _ = try SectionLayout.lay(sections, in: database)
        }
        return try ItemWriter(database, maintainsPinnedAds: true)
    }
}

extension ItemSchema {
    static func find(_ keys: [ItemKey], in database: Database, _ takedowns: TakedownTable?) throws -> FoundItems {
        let find = try SQLStatement(database, "SELECT 1 FROM item WHERE kind = ? AND id = ?")
        var missing: Set<ItemKey> = []
        for key in keys {
            try find.bind(1, key.kind)
            try find.bind(2, key.id)
            let isThere = try find.step()
            find.reset()
            if !isThere, try takedowns?.withholds(kind: key.kind, id: key.id) != true { missing.insert(key) }
        }
        let campaigns = try SQLStatement.integer(database, "SELECT count(*) FROM item WHERE kind = ?", .text(Campaign.kind))
        return FoundItems(missing: missing, campaigns: Int(campaigns ?? 0))
    }
}
