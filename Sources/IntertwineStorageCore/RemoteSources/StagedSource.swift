package import IntertwineFeed

package final class StagedSource<Database: StagingDatabase>: SourceCollection {
    private static var staged: TableSchema {
        TableSchema(
            "staged", .items, key: 1, "place integer,id text,variant text,body text,digest integer", .constraint("UNIQUE (id)"))
    }
    private static var gone: TableSchema { TableSchema("gone", .items, key: 2, "kind text,id text,adopted flag,leaves flag") }

    private let database: Database
    private let source: String
    private let kind: any ItemKind
    package private(set) var count = 0
    private var places: Int64 = 0

    package init(_ database: Database, of source: String, kind: any ItemKind) throws {
        (self.database, self.source, self.kind) = (database, source, kind)
        try using { session in
            for table in [Self.staged, Self.gone] { try session.write(table.creation(Database.Session.dialect, isStaging: true)) }
        }
    }

    deinit { database.close() }

    package func add(_ items: [ValidatedItem]) throws -> [Int] {
        guard !items.isEmpty else { return [] }
        let first = places + 1
        places += Int64(items.count)
        let inserted = try using { session in
            Set(
                try session.rows(
                    """
                    INSERT INTO staged (place, id, variant, body, digest) \(Database.Session.dialect.values(5))
                    ON CONFLICT (id) DO NOTHING RETURNING place
                    """, .integers(Array(first...places)), .texts(items.map(\.id)), .texts(items.map(\.variant)),
                    .documents(items.map(\.body)), .integers(items.map { ItemDigest(variant: $0.variant, body: $0.body).stored })
                ) { $0.integer(0) })
        }
        count += inserted.count
        return items.indices.filter { !inserted.contains(first + Int64($0)) }
    }

    package func apply(removing share: Double, step: (Int) throws -> Void = { _ in }) throws -> SourceChanges {
        defer { database.close() }
        guard count > 0 || share >= 1 else { throw SnapshotRejection.empty }
        return try StoreError.wrappingBlocking {
            try database.merge(0) { session in
                var merge = try SourceMerge(session, source: source, kind: kind)
                let changes = try merge.run(removing: share, step: step)
                // A commit without changes would make cached pages stale.
                return (changes, merge.hasWritten)
            }
        }
    }

    private func using<Value>(_ body: (Database.Session) throws -> Value) throws -> Value {
        try StoreError.wrappingBlocking { try database.stage(body) }
    }

    package func isInStep() throws -> Bool { try using { try SourceMerge.isInStep(source, $0) } }

    package func discard() { database.close() }
}
