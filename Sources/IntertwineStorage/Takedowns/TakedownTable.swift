import GRDB
import IntertwineFeed

/// The table of items that are taken down.
///
/// An item that is taken down is not in the store. An operator who stores it again ends the takedown.
struct TakedownTable {
    private let database: any SQLConnection
    private let find: SQLStatement
    private let insert: SQLStatement
    private let delete: SQLStatement
    /// A Boolean value indicating whether the table is empty. Imports then skip the query for each item.
    private let isEmpty: Bool

    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("4: takedowns") { database in
            try database.execute(
                sql: """
                    CREATE TABLE takedown (
                        kind TEXT NOT NULL,
                        id TEXT NOT NULL,
                        at INTEGER NOT NULL, -- milliseconds since 1970-01-01 UTC
                        reason TEXT,
                        PRIMARY KEY (kind, id)
                    ) WITHOUT ROWID;
                    """)
        }
    }

    static func registerURLs(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("6: URLs of what is taken down") { database in
            // A JSON array of the URLs in the item's fields, which include its images. NULL if the item was not stored.
            try database.execute(sql: "ALTER TABLE takedown ADD COLUMN urls TEXT")
        }
    }

    /// A JSON array of URLs in an item's fields at any depth, followed by the creatives of a campaign with the prefix `BlockedItem.creative`.
    private static let urls = """
        (SELECT json_group_array(DISTINCT value) FROM
            (SELECT value FROM (SELECT value FROM json_tree(item.body)
                WHERE type = 'text' AND (value LIKE 'http://%' OR value LIKE 'https://%') AND length(value) <= 4096 LIMIT 64)
            UNION ALL SELECT '\(BlockedItem.creative)' || value FROM json_each(item.body, '$.creatives')
                WHERE item.kind = '\(Campaign.kind)'))
        """

    static func items(of kind: String, limit: Int, _ database: any SQLConnection) throws -> [BlockedItem] {
        let find = try SQLStatement(database, "SELECT id, urls FROM takedown WHERE kind = ? ORDER BY id LIMIT ?")
        defer { find.reset() }
        try find.bind(1, kind: kind)
        try find.bind(2, Int64(max(limit, 0)))
        var items: [BlockedItem] = []
        while try find.step() {
            items.append(BlockedItem(id: find.text(0), targets: find.isNull(1) ? [] : SQLiteStore.targets(ofTakedown: find.text(1))))
        }
        return items
    }

    /// Prepares statements. The value is valid only in the current transaction.
    init(_ database: any SQLConnection) throws {
        self.database = database
        find = try SQLStatement(database, "SELECT at, reason FROM takedown WHERE kind = ? AND id = ?")
        insert = try SQLStatement(
            database,
            """
            INSERT INTO takedown (kind, id, at, reason, urls)
                VALUES (?1, ?2, ?3, ?4, (SELECT \(Self.urls) FROM item WHERE kind = ?1 AND id = ?2))
            ON CONFLICT (kind, id) DO UPDATE SET at = ?3, reason = ?4, urls = coalesce(excluded.urls, urls)
            """)
        delete = try SQLStatement(database, "DELETE FROM takedown WHERE kind = ? AND id = ?")
        let any = try SQLStatement(database, "SELECT 1 FROM takedown WHERE kind >= '' LIMIT 1")
        defer { any.reset() }
        isEmpty = try !any.step()
    }

    /// Returns true if an item is taken down.
    ///
    /// For writers that create no takedowns: a table that was empty at the start of the transaction remains empty.
    func withholds(kind: String, id: String) throws -> Bool {
        try !isEmpty && takedown(of: ItemKey(kind: kind, id: id)) != nil
    }

    func takedown(of key: ItemKey) throws -> Takedown? {
        defer { find.reset() }
        try find.bind(1, kind: key.kind)
        try find.bind(2, key.id)
        guard try find.step() else { return nil }
        return Takedown(item: key, at: find.integer(0), reason: find.optionalText(1))
    }

    /// Adds a takedown. Call it before the item is removed, because the URLs of the item are read.
    func add(_ takedown: Takedown) throws {
        try insert.bind(1, kind: takedown.item.kind)
        try insert.bind(2, takedown.item.id)
        try insert.bind(3, takedown.at)
        try insert.bind(4, takedown.reason)
        try insert.run()
    }

    /// Takes down all items of a stream.
    func addAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        let insert = try SQLStatement(
            database,
            """
            INSERT INTO takedown (kind, id, at, reason, urls) SELECT kind, id, ?2, ?3, \(Self.urls) FROM item WHERE lane = ?1
            ON CONFLICT (kind, id) DO UPDATE SET at = ?2, reason = ?3, urls = excluded.urls
            """)
        try insert.bind(1, stream.rawValue)
        try insert.bind(2, moment)
        try insert.bind(3, reason)
        try insert.run()
    }

    /// Returns the entries of the campaigns that are taken down after the release of an ad, by campaign.
    static func releases(of key: ItemKey, _ database: any SQLConnection) throws -> [(campaign: String, targets: [String])] {
        guard key.kind != Campaign.kind else { return [] }
        return try items(of: Campaign.kind, limit: SQLiteStore.takenDownLimit, database).compactMap { campaign in
            campaign.releasing(CreativeID(kind: key.kind, id: key.id)).map { (campaign.id, $0) }
        }
    }

    /// Releases an ad from the campaigns that are taken down.
    ///
    /// - Returns: true if one of them names the ad.
    func release(_ key: ItemKey) throws -> Bool {
        let releases = try Self.releases(of: key, database)
        let update = try SQLStatement(database, "UPDATE takedown SET urls = ?3 WHERE kind = ?1 AND id = ?2")
        for (campaign, targets) in releases {
            try update.bind(1, kind: Campaign.kind)
            try update.bind(2, campaign)
            try update.bind(3, SQLiteStore.list(targets))
            try update.run()
        }
        return !releases.isEmpty
    }

    /// Removes a takedown, and returns true if it existed.
    func remove(_ key: ItemKey) throws -> Bool {
        try delete.bind(1, kind: key.kind)
        try delete.bind(2, key.id)
        try delete.run()
        return delete.changes > 0
    }
}
