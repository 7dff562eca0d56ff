import GRDB
import IntertwineFeed

/// Writes an import into a store that others may be using: one transaction, which readers do not see before it is committed.
struct StoreDestination: ImportDestination {
    private let pool: DatabasePool
    private var writer: ItemWriter
    private var isOver = false

    /// Opens the store, makes it where there is none, and waits for up to 60 s until no other import is under way.
    ///
    /// - Parameter sections: how the store is to be laid out; as it is where empty.
    init(_ path: String, sections: [SectionPlan]) throws {
        pool = try ItemSchema.file(path).open(Self.configuration)
        try pool.syncCommits()
        writer = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            if !sections.isEmpty, try !SectionTable(database).isLaid(sections, in: database) {
                _ = try SectionTable.lay(sections, in: database)
            }
            return try ItemWriter(database)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.maximumReaderCount = 1
        configuration.label = "intertwine.import"
        // The transaction spans many calls.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            // 64 MiB: what of the id index stays in memory decides how fast items with random ids go in.
            try database.execute(sql: "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -65536; PRAGMA mmap_size = 0")
        }
        return configuration
    }

    mutating func write(_ batch: [ValidItem]) throws -> ImportCounts {
        var counts = ImportCounts()
        try pool.writeWithoutTransaction { _ in
            for item in batch { counts.count(try writer.bring(item), of: item) }
        }
        return counts
    }

    mutating func commit() throws -> ImportCounts {
        try pool.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        isOver = true
        return ImportCounts()
    }

    mutating func rollback() {
        guard !isOver else { return }
        isOver = true
        // If this fails there is no transaction any more, or closing the connection ends it.
        try? pool.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }
}
