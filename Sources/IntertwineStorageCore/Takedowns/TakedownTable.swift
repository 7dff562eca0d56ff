package import IntertwineFeed

package struct TakedownTable<Session: SQLSession> {
    private let session: Session

    package init(_ session: Session) {
        self.session = session
    }

    // MARK: Takedowns

    /// Call it before the item is removed.
    package func add(_ takedown: Takedown) throws {
        // One override replaces the other.
        if Campaign.Override.allCases.contains(where: { $0.kind == takedown.item.kind }) {
            _ = try release(Campaign.Override.allCases.map { ItemKey(kind: $0.kind, id: takedown.item.id) })
        }
        try session.write(
            """
            INSERT INTO takedown (kind, id, at, reason, urls)
                VALUES (?1, ?2, ?3, ?4, (SELECT \(Session.dialect.itemLinks) FROM item WHERE kind = ?1 AND id = ?2))
            ON CONFLICT (kind, id) DO UPDATE
                SET at = excluded.at, reason = excluded.reason, urls = coalesce(excluded.urls, takedown.urls)
            """, .text(takedown.item.kind), .text(takedown.item.id), .integer(takedown.at), .text(takedown.reason))
    }

    func addAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        try session.write(
            """
            INSERT INTO takedown (kind, id, at, reason, urls)
                SELECT kind, id, ?2, ?3, \(Session.dialect.itemLinks) FROM item WHERE \(PublicItems.condition("?1"))
            ON CONFLICT (kind, id) DO UPDATE SET at = excluded.at, reason = excluded.reason, urls = excluded.urls
            """, .integer(stream.rawValue), .integer(moment), .text(reason))
    }

    package func remove(_ key: ItemKey) throws -> Bool {
        try session.write("DELETE FROM takedown WHERE kind = ?1 AND id = ?2", .text(key.kind), .text(key.id)) > 0
    }

    package func takedown(of key: ItemKey) throws -> Takedown? {
        try session.first("SELECT at, reason FROM takedown WHERE kind = ?1 AND id = ?2", .text(key.kind), .text(key.id)) {
            Takedown(item: key, at: $0.integer(0), reason: $0.optionalText(1))
        }
    }

    package func list(after key: ItemKey?, limit: Int) throws -> [Takedown] {
        try session.rows(
            "SELECT kind, id, at, reason FROM takedown WHERE (kind, id) > (?1, ?2) AND kind \(Campaign.Override.isNoKind) ORDER BY kind, id LIMIT ?3",
            .text(key?.kind ?? ""),
            .text(key?.id ?? ""), .integer(Int64(max(limit, 0)))
        ) { Takedown(item: ItemKey(kind: $0.text(0), id: $0.text(1)), at: $0.integer(2), reason: $0.optionalText(3)) }
    }

    package func urls(limit: Int) throws -> [String] {
        try session.rows(
            "SELECT urls FROM takedown WHERE kind >= '' AND urls IS NOT NULL LIMIT ?1", .integer(Int64(limit))
        ) { ItemLinks.urls($0.text(0)) }.flatMap(\.self)
    }

    package func version() throws -> TakedownVersion {
        try session.first("SELECT count(*), max(at) FROM takedown WHERE kind >= ''") {
            TakedownVersion(count: $0.integer(0), last: $0.integer(1))
        } ?? TakedownVersion(count: 0, last: 0)
    }

    package func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] {
        try session.rows("SELECT id, urls FROM takedown WHERE kind = ?1 ORDER BY id LIMIT ?2", .text(kind), .integer(Int64(max(limit, 0))))
        {
            BlockedItem(id: $0.text(0), targets: $0.optionalText(1).map(ItemLinks.targets) ?? [])
        }
    }

    package func release(_ keys: [ItemKey]) throws -> Int {
        try session.write(
            "DELETE FROM takedown WHERE (kind, id) IN (SELECT kind, id FROM \(Session.dialect.table("keys", ["kind", "id"])))",
            .texts(keys.map(\.kind)), .texts(keys.map(\.id)))
    }
}

extension SQLDialect {
    /// PostgreSQL finds URLs in the text of the body, with their escapes, because its JSON has no NUL.
    fileprivate var itemLinks: String { isPostgreSQL ? Self.postgresLinks : Self.sqliteLinks }

    private static let sqliteLinks = """
        (SELECT json_group_array(DISTINCT value) FROM
            (SELECT value FROM (SELECT value FROM json_tree(item.body)
                WHERE type = 'text' AND (value LIKE 'http://%' OR value LIKE 'https://%') AND length(value) <= 4096 LIMIT 64)
            UNION ALL SELECT '\(BlockedItem.creative)' || value FROM json_each(item.body, '$.creatives')
                WHERE item.kind = '\(Campaign.kind)'))
        """

    private static let postgresLinks = #"""
        (SELECT coalesce('[' || string_agg(url, ',') || ']', '[]') FROM (
            (SELECT (regexp_matches(item.body, '"https?:(?:[^"\\]|\\.)*"', 'g'))[1] AS url LIMIT 64)
            UNION ALL SELECT to_json('\#(BlockedItem.creative)' || creative)::text FROM (
                SELECT json_array_elements_text(
                    CASE json_typeof(list) WHEN 'array' THEN list ELSE json_build_array(list) END) AS creative
                FROM (SELECT (item.body::json)->'creatives' AS list WHERE item.kind = '\#(Campaign.kind)') AS lists
            ) AS creatives
        ) AS found)
        """#
}
