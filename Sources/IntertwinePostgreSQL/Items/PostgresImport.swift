internal import IntertwineFeed
import IntertwineStorageCore

/// Writes an import into a database that others are using: items go into a table that only this session sees, batch by batch, and from
/// there into the store at the end, in one transaction.
final class PostgresImport: ImportDestination {
    private let address: PostgresAddress
    private let changes: OwnWrites
    private let connection: PostgresConnection
    private let sections: [SectionConfiguration]
    private let isRehearsal: Bool
    private var pending: PipelinedQuery?
    private var isOver = false
    private var count: Int64 = 0
    private var neighbour: Int64 = 0

    init(
        _ address: PostgresAddress, _ changes: OwnWrites, sections: [SectionConfiguration], isRehearsal: Bool
    ) throws(StoreError) {
        (self.address, self.changes) = (address, changes)
        self.sections = sections
        self.isRehearsal = isRehearsal
        // The end of a long import is one long statement.
        let settings = PostgresSettings(applicationName: "intertwine import", statementTimeout: .zero)
        let connection = try ServerChecks.explaining(address) { try PostgresConnection(address, settings) }
        self.connection = connection
        try ServerChecks.explaining(address) {
            try PostgresSchema.create(PostgresItemSchema.part, connection)
            // The server ends a long statement of a lost client, if its platform supports that.
            _ = try? connection.execute("SET client_connection_check_interval = '2s'")
            try connection.execute(
                """
                CREATE TEMPORARY TABLE staged (
                    number bigint NOT NULL, -- the order of the import
                    neighbour bigint NOT NULL, -- the content item before it
                    lane bigint NOT NULL,
                    kind text COLLATE "C" NOT NULL,
                    id text COLLATE "C" NOT NULL,
                    variant text COLLATE "C" NOT NULL,
                    body text COLLATE "C" NOT NULL
                )
                """)
        }
    }

    func write(_ batch: [ValidatedItem]) throws -> ImportCounts {
        guard !batch.isEmpty else { return ImportCounts() }
        try speaking {
            try settle()
            let first = count
            let neighbours = batch.map { item in
                count += 1
                defer { if item.stream != .advertisements { neighbour = count } }
                return neighbour
            }
            pending = try connection.ask([
                SQLCommand(
                    """
                    INSERT INTO staged (number, neighbour, lane, kind, id, variant, body)
                    SELECT $1 + n, neighbour, lane, kind, id, variant, body
                    FROM unnest($2, $3, $4, $5, $6, $7) WITH ORDINALITY AS u (neighbour, lane, kind, id, variant, body, n)
                    """,
                    [
                        .integer(first), .integers(neighbours), .integers(batch.map(\.stream.rawValue)), .texts(batch.map(\.kind)),
                        .texts(batch.map(\.id)), .texts(batch.map(\.variant)),
                        .texts(batch.map { String(decoding: $0.body, as: UTF8.self) }),
                    ])
            ])
        }
        return ImportCounts(added: batch.count)
    }

    private func settle() throws {
        guard !isOver else { throw StoreError.unavailable("the import is over") }
        guard let pending else { return }
        self.pending = nil
        _ = try connection.results(of: pending)
    }

    func find(_ keys: [ItemKey]) throws -> FoundItems {
        try speaking {
            try settle()
            let rows = try connection.query(
                """
                SELECT kind, id FROM unnest($1, $2) AS wanted (kind, id)
                WHERE NOT EXISTS (SELECT 1 FROM item WHERE item.kind = wanted.kind AND item.id = wanted.id)
                    AND NOT EXISTS (SELECT 1 FROM staged WHERE staged.kind = wanted.kind AND staged.id = wanted.id)
                    AND NOT EXISTS (SELECT 1 FROM takedown WHERE takedown.kind = wanted.kind AND takedown.id = wanted.id)
                """, .texts(keys.map(\.kind)), .texts(keys.map(\.id)))
            let campaigns = try connection.query("SELECT count(*) FROM item WHERE kind = $1", .text(Campaign.kind)).integer(0, 0)
            return FoundItems(
                missing: Set((0..<rows.count).map { ItemKey(kind: rows.text($0, 0), id: rows.text($0, 1)) }), campaigns: Int(campaigns))
        }
    }

    func commit() throws -> ImportCounts {
        try speaking {
            try settle()
            isOver = true
            do {
                // The planner needs the numbers and kinds of the staged rows, without an analysis of their bodies, which takes long. It
                // hashes the few streams: a merge join would sort all rows, bodies included.
                try connection.execute(
                    """
                    ANALYZE staged (number, lane, kind, id); BEGIN;
                    SET LOCAL idle_in_transaction_session_timeout = 0;
                    SET LOCAL work_mem = '64MB'; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off
                    """)
                guard !isRehearsal else {
                    let counts = try rehearse()
                    try connection.execute("ROLLBACK")
                    return counts
                }
                let counts = try merge()
                try changes.commit(connection)
                // Without it the first pages may scan.
                if count >= 1_000 { _ = try? connection.execute("ANALYZE item; ANALYZE ad_listing") }
                return counts
            } catch {
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    func rollback() { isOver = true }

    // MARK: What becomes of the items

    private func merge() throws -> ImportCounts {
        try connection.run([
            SQLCommand("SET LOCAL lock_timeout = '60s'"), SQLCommand("SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))"),
            // All other writers wait while this transaction waits for a lock, so the timeout is short.
            SQLCommand("SET LOCAL lock_timeout = '5s'"),
        ])
        if !sections.isEmpty {
            var table = try SectionTable(PostgresSnapshot(inside: connection))
            if !table.isLaid(sections) { try table.lay(sections, in: connection) }
        }
        let withheld = try removeBlocked()
        let total = Int(count) - withheld.count
        let added = try append()
        if added < total { try replace() }
        try list()
        return ImportCounts(added: added - Int(count), replaced: total - added, withheld: withheld)
    }

    private func rehearse() throws -> ImportCounts {
        let withheld = try removeBlocked()
        let added = Int(
            try connection.query(
                """
                SELECT count(*) FROM (SELECT DISTINCT kind, id FROM staged) AS s
                WHERE NOT EXISTS (SELECT 1 FROM item WHERE item.kind = s.kind AND item.id = s.id)
                """
            ).integer(0, 0))
        return ImportCounts(added: added - Int(count), replaced: Int(count) - withheld.count - added, withheld: withheld)
    }

    /// Removes blocked items from the import, so that they are not restored or listed.
    private func removeBlocked() throws -> BlockedItems {
        var withheld = BlockedItems()
        let some = try connection.query(
            """
            SELECT s.kind, s.id FROM staged AS s JOIN takedown AS t ON t.kind = s.kind AND t.id = s.id
            ORDER BY s.number LIMIT \(BlockedItems.namedLimit)
            """)
        guard !some.isEmpty else { return withheld }
        for row in 0..<some.count { withheld.record(ItemKey(kind: some.text(row, 0), id: some.text(row, 1))) }
        let all = try connection.query("DELETE FROM staged USING takedown AS t WHERE t.kind = staged.kind AND t.id = staged.id").affected
        withheld.record(more: all - some.count)
        try connection.execute(
            """
            CREATE INDEX staged_number ON staged (number) WHERE lane <> 1;
            UPDATE staged SET neighbour = coalesce(
                (SELECT max(n.number) FROM staged AS n WHERE n.lane <> 1 AND n.number < staged.number), 0)
            WHERE lane = 1
            """)
        return withheld
    }

    private func append() throws -> Int {
        // If all items are new, their numbers determine their positions, independent of the insertion order.
        let order = try isAllNew() ? "" : "ORDER BY s.number ON CONFLICT (kind, id) DO NOTHING"
        return try connection.query(
            """
            -- Computed once, not for each item.
            WITH l AS MATERIALIZED (
                SELECT lane, coalesce((SELECT max(position) FROM item WHERE item.lane = known.lane), 0) AS last
                FROM (SELECT 0::bigint AS lane UNION SELECT 1 UNION SELECT number FROM section) AS known
            )
            INSERT INTO item (lane, position, kind, id, variant, body)
            SELECT l.lane, l.last + \(ItemPosition.step) * s.number, s.kind, s.id, s.variant, s.body
            FROM staged AS s LEFT JOIN section_kind AS k ON s.lane = 0 AND k.kind = s.kind
            JOIN l ON l.lane = coalesce(k.section, s.lane)
            \(order)
            """
        ).affected
    }

    /// A hash collision between two ids returns false, which selects the slower path. Why: conflict handling doubles the cost of each row.
    private func isAllNew() throws -> Bool {
        try connection.query(
            """
            SELECT (SELECT count(*) = count(DISTINCT hashtextextended(id, hashtextextended(kind, 0))) FROM staged)
                AND NOT EXISTS (SELECT 1 FROM staged JOIN item USING (kind, id))
            """
        ).flag(0, 0)
    }

    private func replace() throws {
        let strangers = try connection.query(
            """
            DELETE FROM item USING staged AS s LEFT JOIN section_kind AS k ON s.lane = 0 AND k.kind = s.kind
            WHERE item.kind = s.kind AND item.id = s.id AND item.lane <> coalesce(k.section, s.lane)
            """
        ).affected
        if strangers > 0 { _ = try append() }
        try connection.query(
            """
            UPDATE item SET variant = s.variant, body = s.body
            FROM (SELECT DISTINCT ON (kind, id) kind, id, variant, body FROM staged ORDER BY kind, id, number DESC) AS s
            WHERE item.kind = s.kind AND item.id = s.id AND (item.variant, item.body) IS DISTINCT FROM (s.variant, s.body)
            """)
    }

    private func list() throws {
        guard try !connection.query("SELECT 1 FROM staged WHERE lane = 1 LIMIT 1").isEmpty else { return }
        try connection.query(
            "DELETE FROM ad_listing USING staged AS s WHERE s.lane = 1 AND s.kind = ad_listing.kind AND s.id = ad_listing.id")
        try connection.query(
            """
            INSERT INTO ad_listing (lane, position, kind, id, session)
            SELECT coalesce(i.lane, 0), coalesce(i.position, \(Int64.min)), s.kind, s.id, $1
            FROM staged AS s LEFT JOIN staged AS n ON n.number = s.neighbour
            LEFT JOIN item AS i ON i.kind = n.kind AND i.id = n.id
            WHERE s.lane = 1 ORDER BY s.number
            """, .integer(.random(in: 1 ... .max)))
    }

    private func speaking<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            throw error.storeError(at: address.shown, note: "; nothing was imported")
        }
    }
}
