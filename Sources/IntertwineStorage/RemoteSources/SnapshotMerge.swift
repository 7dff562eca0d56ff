import GRDB
import IntertwineFeed

/// A merge of a source snapshot into the store, inside a transaction of the caller.
struct SnapshotMerge {
    private let database: Database
    private let source: Int64
    private let kind: any ItemKind
    private var writer: ItemWriter
    private let remember: SQLStatement
    private var changes = SourceChanges()
    /// A Boolean value indicating whether the digest of a withheld item was stored.
    private var hasRecorded = false

    var hasWritten: Bool { hasRecorded || !changes.isEmpty }

    /// The number of items between two calls of `step`.
    private static let stride = 1_024

    init(_ database: Database, source name: String, kind: any ItemKind) throws {
        self.database = database
        self.kind = kind
        try SQLStatement.run(database, "INSERT INTO source (name) VALUES (?) ON CONFLICT (name) DO NOTHING", .text(name))
        guard let number = try SQLStatement.integer(database, "SELECT number FROM source WHERE name = ?", .text(name)) else {
            throw StoreError.unavailable("the source \(name) has no number")
        }
        source = number
        writer = try ItemWriter(database)
        remember = try SQLStatement(
            database,
            """
            INSERT INTO source_item (source, kind, id, digest, adopted) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (source, kind, id) DO UPDATE SET digest = excluded.digest
            """)
    }

    mutating func run(removing share: Double, step: (Int) throws -> Void) throws -> SourceChanges {
        try findRemoved(share)
        try put(step)
        try deleteRemoved()
        if kind.name == Campaign.kind {
            let count = Int(try SQLStatement.integer(database, "SELECT count(*) FROM item WHERE kind = ?", .kind(kind.name)) ?? 0)
            guard count <= CampaignIndex.limit else { throw SnapshotRejection.tooManyCampaigns(count, limit: CampaignIndex.limit) }
        }
        return changes
    }

    /// Finds items that the source no longer lists, and checks their share before any write.
    private func findRemoved(_ share: Double) throws {
        try SQLStatement.run(
            database,
            """
            INSERT INTO staging.gone (kind, id, digest, adopted)
            SELECT kind, id, digest, adopted FROM source_item
            WHERE source = ? AND NOT (kind = ? AND EXISTS (SELECT 1 FROM staging.staged WHERE staged.id = source_item.id))
            """, .integer(source), .kind(kind.name))
        let gone = try countRemovable()
        guard gone > 0 else { return }
        let all = Int(try SQLStatement.integer(database, "SELECT count(*) FROM source_item WHERE source = ?", .integer(source)) ?? 0)
        guard Double(gone) <= Double(all) * share else { throw SnapshotRejection.tooManyRemovals(gone, of: all, share: share) }
    }

    /// Returns the number of items that ``deleteRemoved()`` will remove.
    private func countRemovable() throws -> Int {
        let rows = try SQLStatement(
            database,
            """
            SELECT g.digest, i.variant, i.body FROM staging.gone AS g JOIN item AS i ON i.kind = g.kind AND i.id = g.id
            WHERE g.adopted = 0 AND NOT EXISTS (
                SELECT 1 FROM source_item AS o
                WHERE o.source IN (SELECT number FROM source WHERE number <> ?) AND o.kind = g.kind AND o.id = g.id
            )
            """)
        defer { rows.reset() }
        try rows.bind(1, source)
        var count = 0
        while try rows.step() {
            if ItemDigest(variant: rows.text(1), body: rows.bytes(2)).stored == rows.integer(0) { count += 1 }
        }
        return count
    }

    private mutating func put(_ step: (Int) throws -> Void) throws {
        let rows = try SQLStatement(
            database,
            """
            SELECT t.id, t.variant, t.body, t.digest, s.digest, i.id IS NOT NULL, i.variant = t.variant AND i.body = t.body
            FROM staging.staged AS t LEFT JOIN source_item AS s ON s.source = ?2 AND s.kind = ?1 AND s.id = t.id
            LEFT JOIN item AS i ON i.kind = ?1 AND i.id = t.id
            ORDER BY t.place
            """)
        let origins = try ItemOwnership(database, besides: source)
        defer { rows.reset() }
        try rows.bind(1, kind: kind.name)
        try rows.bind(2, source)
        var done = 0
        while try rows.step() {
            done += 1
            if done % Self.stride == 0 { try step(done) }
            let isThere = rows.integer(5) == 1
            let id = rows.text(0)
            if isThere, !rows.isNull(4), rows.integer(4) == rows.integer(3) {
                // An item that was changed locally is replaced again, unless another source changed it: if two sources list one id, the last change
                // remains.
                let isAsBrought = try rows.integer(6) == 1 || origins.hasBrought(kind: kind.name, id: id)
                if isAsBrought {
                    changes.unchanged += 1
                    continue
                }
            }
            let change = try writer.upsert(
                ValidatedItem(kind: kind.name, stream: kind.stream, id: id, variant: rows.text(1), body: rows.bytes(2)))
            switch change {
            case .added: changes.added += 1
            case .replaced: changes.changed += 1
            case .withheld:
                // The digest of a withheld item is stored too. After the release, the missing item shows that the source must be read again.
                changes.withheld.record(ItemKey(kind: kind.name, id: id))
                if !rows.isNull(4), rows.integer(4) == rows.integer(3) { continue }
                hasRecorded = true
            }
            try remember.bind(1, source)
            try remember.bind(2, kind: kind.name)
            try remember.bind(3, id)
            try remember.bind(4, rows.integer(3))
            try remember.bind(5, Int64(isThere ? 1 : 0))
            try remember.run()
        }
        try step(done)
    }

    private mutating func deleteRemoved() throws {
        let snapshot = SQLiteSnapshot(database: database)
        let rows = try SQLStatement(database, "SELECT kind, id, digest, adopted FROM staging.gone ORDER BY place")
        let forget = try SQLStatement(database, "DELETE FROM source_item WHERE source = ? AND kind = ? AND id = ?")
        let handOver = try SQLStatement(
            database,
            """
            UPDATE source_item SET adopted = min(adopted, ?4)
            WHERE source IN (SELECT number FROM source WHERE number <> ?1) AND kind = ?2 AND id = ?3
            """)
        defer { rows.reset() }
        while try rows.step() {
            let (kind, id) = (rows.kind(0), rows.text(1))
            try forget.bind(1, source)
            try forget.bind(2, kind: kind)
            try forget.bind(3, id)
            try forget.run()
            // If another source still lists the item, the item belongs to that source.
            try handOver.bind(1, source)
            try handOver.bind(2, kind: kind)
            try handOver.bind(3, id)
            try handOver.bind(4, rows.integer(3))
            try handOver.run()
            let isShared = database.changesCount > 0
            let item = try snapshot.item(kind: kind, id: id)
            let isAsBrought = item.map { ItemDigest(variant: $0.variant, body: $0.body).stored == rows.integer(2) } ?? false
            if !isShared, rows.integer(3) == 0, isAsBrought, try writer.remove(kind: kind, id: id) {
                changes.removed += 1
            } else {
                changes.released += 1
            }
        }
    }
}

/// A check that an item has the content that a source stored, without later changes by others.
struct ItemOwnership {
    private let source: Int64
    private let others: SQLStatement
    private let snapshot: SQLiteSnapshot

    /// Prepares statements.
    ///
    /// - Parameter source: the number of the source that is excluded.
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

    /// Returns true if the stored item has the last content from one of the other sources.
    func hasBrought(kind: String, id: String) throws -> Bool {
        guard let item = try snapshot.item(kind: kind, id: id) else { return false }
        return try hasBrought(kind: kind, id: id, digest: ItemDigest(variant: item.variant, body: item.body).stored)
    }

    func hasBrought(kind: String, id: String, digest: Int64) throws -> Bool {
        defer { others.reset() }
        try others.bind(1, source)
        try others.bind(2, kind: kind)
        try others.bind(3, id)
        try others.bind(4, digest)
        return try others.step()
    }
}
