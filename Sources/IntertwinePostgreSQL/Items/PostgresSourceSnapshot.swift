import IntertwineFeed
import IntertwineStorageCore

/// One complete list of a source's items: collected in a table that only this session sees, then applied to the store in one transaction.
///
/// Like `SourceSnapshot` for a file, it shows readers nothing before the end, and all changes from then on.
final class PostgresSourceSnapshot: SourceCollection {
    /// Rows that are looked at together, which bounds memory.
    private static let batch: Int64 = 1_000

    private let source: String
    private let kind: any ItemKind
    private let address: PostgresAddress
    private let changes: OwnWrites
    private let session: GuardedSession
    private(set) var count = 0
    /// Places in the list, those of repeated ids included.
    private var stagedCount: Int64 = 0

    /// - Throws: `SnapshotRejection.busy` while the same source is being synchronised elsewhere, on whichever machine; `StoreError`.
    init(of source: String, kind: any ItemKind, into address: PostgresAddress, _ changes: OwnWrites) throws {
        self.changes = changes
        self.source = source
        self.kind = kind
        self.address = address
        let settings = PostgresSettings(applicationName: "intertwine source", statementTimeout: .zero)
        let connection = try ServerChecks.explaining(address) {
            let connection = try PostgresConnection(address, settings)
            try PostgresSchema.bringUpToDate(connection, part: ItemMigrations.part, migrations: ItemMigrations.all)
            return connection
        }
        // Goes with the session, however that ends.
        let isFree = try connection.query("SELECT pg_try_advisory_lock(hashtextextended($1, 5461))", .text(source)).flag(0, 0)
        guard isFree else { throw SnapshotRejection.busy(source) }
        try connection.execute(
            """
            CREATE TEMPORARY TABLE staged (
                place bigint PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, variant text COLLATE "C" NOT NULL,
                body text COLLATE "C" NOT NULL, digest bigint NOT NULL
            );
            CREATE TEMPORARY TABLE gone (
                kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, adopted boolean NOT NULL, leaves boolean NOT NULL
            );
            """)
        // A stalled process must not lock others out of the source.
        session = try ServerChecks.explaining(address) { try GuardedSession(connection) }
    }

    func add(_ items: [ValidatedItem]) throws -> [Int] {
        let rows = try speaking { connection in
            try connection.query(
                """
                INSERT INTO staged (place, id, variant, body, digest)
                SELECT $1 + n, id, variant, body, digest FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS u (id, variant, body, digest, n)
                ORDER BY n ON CONFLICT (id) DO NOTHING RETURNING place - $1
                """, .integer(stagedCount), .texts(items.map(\.id)), .texts(items.map(\.variant)),
                .texts(items.map { String(decoding: $0.body, as: UTF8.self) }),
                .integers(items.map { ItemDigest(variant: $0.variant, body: $0.body).stored }))
        }
        stagedCount += Int64(items.count)
        let inserted = Set((0..<rows.count).map { rows.integer($0, 0) })
        count += inserted.count
        return items.indices.filter { !inserted.contains(Int64($0 + 1)) }
    }

    func apply(removing share: Double, step: (Int) throws -> Void) throws -> SourceChanges {
        defer { discard() }
        guard count > 0 || share >= 1 else { throw SnapshotRejection.empty }
        return try speaking { connection in
            try connection.execute("ANALYZE staged; BEGIN; SET LOCAL lock_timeout = '60s'")
            do {
                try connection.query("SELECT pg_advisory_xact_lock(\(ItemMigrations.writers))")
                var merge = try SourceMerge(connection, source: source, kind: kind)
                let made = try merge.run(removing: share, batch: Self.batch, step: step)
                guard merge.hasWritten else {
                    // A run without changes must not invalidate cached pages.
                    try connection.execute("ROLLBACK")
                    return made
                }
                try changes.commit(connection) { () throws(PostgresError) in try connection.execute("COMMIT") }
                return made
            } catch {
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    func isInStep() throws -> Bool {
        try speaking { connection in
            var last = (kind: "", id: "")
            while true {
                let rows = try connection.query(
                    """
                    SELECT s.kind, s.id, s.digest, i.variant, i.body, (
                        SELECT string_agg(o.digest::text, ',') FROM source_item AS o
                        WHERE o.source <> s.source AND o.kind = s.kind AND o.id = s.id)
                    FROM source_item AS s LEFT JOIN item AS i ON i.kind = s.kind AND i.id = s.id
                    WHERE s.source = (SELECT number FROM source WHERE name = $1) AND (s.kind, s.id) > ($2, $3)
                    AND NOT EXISTS (SELECT 1 FROM takedown AS t WHERE t.kind = s.kind AND t.id = s.id)
                    ORDER BY s.kind, s.id LIMIT $4
                    """, .text(source), .text(last.kind), .text(last.id), .integer(Self.batch))
                guard !rows.isEmpty else { return true }
                for row in 0..<rows.count {
                    guard !rows.isNull(row, 3) else { return false }
                    let digest = ItemDigest(variant: rows.text(row, 3), body: rows.bytes(row, 4)).stored
                    let isAnothers = rows.text(row, 5).split(separator: ",").contains { Int64($0) == digest }
                    guard digest == rows.integer(row, 2) || isAnothers else { return false }
                }
                last = (rows.text(rows.count - 1, 0), rows.text(rows.count - 1, 1))
            }
        }
    }

    func discard() {
        // The server would detect it a moment later.
        _ = try? session.use { try $0.execute("SELECT pg_advisory_unlock_all()") }
        session.end()
    }

    private func speaking<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        do {
            return try session.use(body)
        } catch let error as PostgresError {
            throw StoreError.unavailable("\(address.shown): \(error)")
        }
    }
}
