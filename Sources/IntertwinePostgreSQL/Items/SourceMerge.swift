import IntertwineFeed
import IntertwineStorageCore

/// Brings the store in step with what a source lists, inside a transaction that is someone else's and has the writers' lock.
struct SourceMerge {
    private let connection: PostgresConnection
    private let source: SQLValue
    private let kind: any ItemKind
    private let stream: StreamID
    private var changes = SourceChanges()
    /// True if a blocked item of the source had to be recorded.
    private var hasRecorded = false

    var hasWritten: Bool { hasRecorded || !changes.isEmpty }

    init(_ connection: PostgresConnection, source name: String, kind: any ItemKind) throws {
        self.connection = connection
        self.kind = kind
        try connection.query("INSERT INTO source (name) VALUES ($1) ON CONFLICT (name) DO NOTHING", .text(name))
        source = .integer(try connection.query("SELECT number FROM source WHERE name = $1", .text(name)).integer(0, 0))
        stream = try ItemWriter(connection).stream(of: ValidatedItem(kind: kind.name, stream: kind.stream, id: "", variant: "", body: []))
    }

    mutating func run(removing share: Double, batch: Int64, step: (Int) throws -> Void) throws -> SourceChanges {
        try findRemoved(share, batch)
        try put(batch, step)
        try deleteRemoved()
        if kind.name == Campaign.kind {
            let count = Int(try connection.query("SELECT count(*) FROM item WHERE kind = $1", .kind(kind.name)).integer(0, 0))
            guard count <= CampaignIndex.limit else { throw SnapshotRejection.tooManyCampaigns(count, limit: CampaignIndex.limit) }
        }
        return changes
    }

    // MARK: What is gone

    /// Finds the items to remove before anything is written: those that only this source delivered and that no other writer has changed.
    private func findRemoved(_ share: Double, _ batch: Int64) throws {
        var last = (kind: "", id: "")
        var leaving = 0
        while true {
            let rows = try connection.query(
                """
                SELECT s.kind, s.id, s.digest, s.adopted, i.variant, i.body,
                    EXISTS (SELECT 1 FROM source_item AS o WHERE o.source <> $1 AND o.kind = s.kind AND o.id = s.id)
                FROM source_item AS s LEFT JOIN item AS i ON i.kind = s.kind AND i.id = s.id
                WHERE s.source = $1 AND (s.kind, s.id) > ($2, $3)
                AND NOT (s.kind = $4 AND EXISTS (SELECT 1 FROM staged WHERE staged.id = s.id))
                ORDER BY s.kind, s.id LIMIT $5
                """, source, .text(last.kind), .text(last.id), .kind(kind.name), .integer(batch))
            guard !rows.isEmpty else { break }
            let leaves = (0..<rows.count).map { row in
                !rows.flag(row, 3) && !rows.flag(row, 6) && !rows.isNull(row, 4)
                    && ItemDigest(variant: rows.text(row, 4), body: rows.bytes(row, 5)).stored == rows.integer(row, 2)
            }
            leaving += leaves.count { $0 }
            try connection.query(
                "INSERT INTO gone SELECT kind, id, adopted = 1, leaves = 1 FROM unnest($1, $2, $3, $4) AS u (kind, id, adopted, leaves)",
                .texts((0..<rows.count).map { rows.text($0, 0) }), .texts((0..<rows.count).map { rows.text($0, 1) }),
                .integers((0..<rows.count).map { rows.flag($0, 3) ? 1 : 0 }), .integers(leaves.map { $0 ? 1 : 0 }))
            last = (rows.text(rows.count - 1, 0), rows.text(rows.count - 1, 1))
        }
        guard leaving > 0 else { return }
        let all = Int(try connection.query("SELECT count(*) FROM source_item WHERE source = $1", source).integer(0, 0))
        guard Double(leaving) <= Double(all) * share else { throw SnapshotRejection.tooManyRemovals(leaving, of: all, share: share) }
    }

    private mutating func deleteRemoved() throws {
        let forgotten = try connection.query(
            "DELETE FROM source_item AS s USING gone AS g WHERE s.source = $1 AND s.kind = g.kind AND s.id = g.id", source
        ).affected
        guard forgotten > 0 else { return }
        // Another source may list it still: it is that one's from now on.
        try connection.query(
            """
            UPDATE source_item AS s SET adopted = s.adopted AND g.adopted FROM gone AS g
            WHERE s.source <> $1 AND s.kind = g.kind AND s.id = g.id
            """, source)
        let removed = try connection.query(
            "DELETE FROM item USING gone AS g WHERE g.leaves AND item.kind = g.kind AND item.id = g.id"
        ).affected
        changes.removed += removed
        changes.released += forgotten - removed
    }

    // MARK: What is listed

    private mutating func put(_ batch: Int64, _ step: (Int) throws -> Void) throws {
        var (lastStaged, done): (Int64, Int) = (0, 0)
        while true {
            let rows = try connection.query(
                """
                SELECT t.place, t.id, t.variant, t.body, t.digest, s.digest, i.id IS NOT NULL,
                    i.variant = t.variant AND i.body = t.body, i.variant, i.body, w.kind IS NOT NULL, (
                        SELECT string_agg(o.digest::text, ',') FROM source_item AS o
                        WHERE o.source <> $2 AND o.kind = $1 AND o.id = t.id)
                FROM staged AS t LEFT JOIN source_item AS s ON s.source = $2 AND s.kind = $1 AND s.id = t.id
                LEFT JOIN item AS i ON i.kind = $1 AND i.id = t.id LEFT JOIN takedown AS w ON w.kind = $1 AND w.id = t.id
                WHERE t.place > $3 ORDER BY t.place LIMIT $4
                """, .kind(kind.name), source, .integer(lastStaged), .integer(batch))
            guard !rows.isEmpty else { break }
            try put(rows)
            done += rows.count
            try step(done)
            lastStaged = rows.integer(rows.count - 1, 0)
        }
    }

    private mutating func put(_ rows: PostgresRows) throws {
        var new: [Int] = []
        var remembered: [Int] = []
        for row in 0..<rows.count {
            let isKnown = !rows.isNull(row, 5) && rows.integer(row, 5) == rows.integer(row, 4)
            let isThere = rows.flag(row, 6)
            // An item that another writer changed is overwritten, unless that writer is another source. If two sources list one id, the last one
            // that changed it has the item, and neither overwrites the other.
            if isThere, isKnown, rows.flag(row, 7) || isAnothers(rows, row) {
                changes.unchanged += 1
                continue
            }
            if rows.flag(row, 10) {
                // The takedown records the item's absence. After the release, the source must be fetched again.
                changes.withheld.record(ItemKey(kind: kind.name, id: rows.text(row, 1)))
                if isKnown { continue }
                hasRecorded = true
            } else if isThere {
                try replace(item(rows, row))
                changes.changed += 1
            } else {
                new.append(row)
            }
            remembered.append(row)
        }
        try append(new.map { item(rows, $0) })
        changes.added += new.count
        try connection.query(
            """
            INSERT INTO source_item (source, kind, id, digest, adopted)
            SELECT $1, $2, id, digest, adopted = 1 FROM unnest($3, $4, $5) AS u (id, digest, adopted)
            ON CONFLICT (source, kind, id) DO UPDATE SET digest = excluded.digest
            """, source, .kind(kind.name), .texts(remembered.map { rows.text($0, 1) }), .integers(remembered.map { rows.integer($0, 4) }),
            .integers(remembered.map { rows.flag($0, 6) ? 1 : 0 }))
    }

    private func item(_ rows: PostgresRows, _ row: Int) -> ValidatedItem {
        ValidatedItem(kind: kind.name, stream: kind.stream, id: rows.text(row, 1), variant: rows.text(row, 2), body: rows.bytes(row, 3))
    }

    /// Returns true if the stored item is the last version of one of the other sources.
    private func isAnothers(_ rows: PostgresRows, _ row: Int) -> Bool {
        guard !rows.isNull(row, 11) else { return false }
        let digest = ItemDigest(variant: rows.text(row, 8), body: rows.bytes(row, 9)).stored
        return rows.text(row, 11).split(separator: ",").contains { Int64($0) == digest }
    }

    private func replace(_ item: ValidatedItem) throws {
        let writer = ItemWriter(connection)
        if try !writer.update(item, in: stream) {
            // The kind may belong to another stream now, in which the item has no position yet.
            _ = try writer.remove(ItemKey(item))
            try append([item])
        }
    }

    /// Appends items to the end of the stream, in their order. Advertisements without a listing are listed after all content.
    private func append(_ items: [ValidatedItem]) throws {
        guard !items.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO item (lane, position, kind, id, variant, body)
            SELECT $1, (SELECT coalesce(max(position), 0) FROM item WHERE lane = $1) + \(ItemPosition.step) * n, $2, id, variant, body
            FROM unnest($3, $4, $5) WITH ORDINALITY AS u (id, variant, body, n)
            """, .integer(stream.rawValue), .kind(kind.name), .texts(items.map(\.id)), .texts(items.map(\.variant)),
            .texts(items.map { String(decoding: $0.body, as: UTF8.self) }))
        guard stream == .advertisements else { return }
        for item in items { try ItemWriter(connection).list(item) }
    }
}
