internal import IntertwineFeed
import IntertwineStorageCore

/// One complete list of a source's items: collected in a table that only this session sees, then applied to the store in one transaction.
final class PostgresSourceSnapshot: SourceCollection {
    private let source: String
    private let kind: any ItemKind
    private let address: PostgresAddress
    private let changes: OwnWrites
    private let session: GuardedSession
    private(set) var count = 0
    private var stagedCount: Int64 = 0

    init(of source: String, kind: any ItemKind, into address: PostgresAddress, _ changes: OwnWrites) throws {
        self.changes = changes
        self.source = source
        self.kind = kind
        self.address = address
        let settings = PostgresSettings(applicationName: "intertwine source", statementTimeout: .zero)
        let connection = try ServerChecks.explaining(address) {
            let connection = try PostgresConnection(address, settings)
            try PostgresSchema.create(PostgresItemSchema.part, connection)
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
                try connection.query("SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))")
                var merge = try SourceMerge(connection, source: source, kind: kind)
                let made = try merge.run(removing: share, step: step)
                guard merge.hasWritten else {
                    // A run without changes must not invalidate cached pages.
                    try connection.execute("ROLLBACK")
                    return made
                }
                try changes.commit(connection)
                return made
            } catch {
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    func isInStep() throws -> Bool {
        try speaking { try SourceMerge.isInStep(source, $0) }
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
            throw error.storeError(at: address.shown)
        }
    }
}
