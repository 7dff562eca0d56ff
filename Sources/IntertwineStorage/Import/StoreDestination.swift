import GRDB
internal import IntertwineFeed

struct StoreDestination: ImportDestination {
    private static let batchSize = 256

    private let pool: DatabasePool
    private let file: ServedFile
    private let sections: [SectionConfiguration]
    private let stage: SpoolFile
    private var writer: ItemWriter?
    private var isOver = false

    init(_ path: String, sections: [SectionConfiguration]) throws {
        pool = try ItemSchema.file(path).open(Self.configuration)
        try pool.syncCommits()
        file = try ServedFile(path)
        self.sections = sections
        stage = SpoolFile(nextTo: path)
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // The timeout is the longest wait for another import.
        configuration.busyMode = .timeout(60)
        configuration.maximumReaderCount = 1
        configuration.label = "intertwine.import"
        // The transaction spans several calls.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            // The cache is 64 MiB. The cached part of the id index determines the speed of imports with random ids.
            try database.execute(sql: "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -65536; PRAGMA mmap_size = 0")
        }
        return configuration
    }

    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts {
        try stage.append(batch)
        return ImportCounts(added: batch.count)
    }

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
        try pool.writeWithoutTransaction { try ItemSchema.find(keys, in: $0, WithheldItems($0)) }
    }

    mutating func commit() throws -> ImportCounts {
        try file.writing { try pool.writeWithoutTransaction { try $0.execute(sql: "COMMIT") } }
        isOver = true
        return ImportCounts()
    }

    mutating func rollback() {
        guard !isOver else { return }
        isOver = true
        // If this fails, there is no transaction, or closing the connection ends it.
        try? pool.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    private func begin(_ database: Database) throws -> ItemWriter {
        try database.execute(sql: "BEGIN IMMEDIATE")
        if !sections.isEmpty, try !SectionLayout(database.session).isArranged(by: sections, in: database) {
            _ = try SectionLayout.arrange(by: sections, in: database)
        }
        return try ItemWriter(database)
    }
}

extension ItemSchema {
    static func find(_ keys: [ItemKey], in database: Database, _ withheld: WithheldItems?) throws -> FoundItems {
        let find = try SQLStatement(database, "SELECT 1 FROM item WHERE kind = ? AND id = ?")
        var missing: Set<ItemKey> = []
        for key in keys {
            try find.bind(1, key.kind)
            try find.bind(2, key.id)
            let isThere = try find.step()
            find.reset()
            if !isThere, try withheld?.contains(kind: key.kind, id: key.id) != true { missing.insert(key) }
        }
        let campaigns = try SQLStatement.integer(database, "SELECT count(*) FROM item WHERE kind = ?", .text(Campaign.kind))
        return FoundItems(missing: missing, campaigns: Int(campaigns ?? 0))
    }
}
