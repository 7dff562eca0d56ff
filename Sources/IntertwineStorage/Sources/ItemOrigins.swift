import GRDB
import IntertwineFeed

/// Tells whether an item is as a source brought it, or has been written by somebody else since.
struct ItemOrigins {
    private let source: Int64
    private let others: SQLStatement
    private let snapshot: SQLiteSnapshot

    /// - Parameter source: the number of the one that is not asked about.
    init(_ database: Database, besides source: Int64) throws {
        self.source = source
        snapshot = SQLiteSnapshot(database: database)
        others = try SQLStatement(
            database,
            """
            SELECT 1 FROM source_item
            WHERE source IN (SELECT number FROM source WHERE number <> ?) AND kind = ? AND id = ? AND digest = ? LIMIT 1
            """)
    }

    /// Whether an item is there as one of the other sources brought it last.
    func hasBrought(kind: String, id: String) throws -> Bool {
        guard let item = try snapshot.item(kind: kind, id: id) else { return false }
        return try hasBrought(kind: kind, id: id, digest: ItemDigest(variant: item.variant, body: item.body).stored)
    }

    func hasBrought(kind: String, id: String, digest: Int64) throws -> Bool {
        defer { others.reset() }
        try others.bind(1, source)
        try others.bind(2, kind)
        try others.bind(3, id)
        try others.bind(4, digest)
        return try others.step()
    }
}
