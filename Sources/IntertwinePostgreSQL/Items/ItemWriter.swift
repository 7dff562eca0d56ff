import IntertwineFeed
import IntertwineStorageCore

/// Puts and removes items, one after another, inside a transaction that is someone else's and has the writers' lock.
struct ItemWriter {
    private let connection: PostgresConnection
    private let takedowns: TakedownTable

    init(_ connection: PostgresConnection) {
        self.connection = connection
        takedowns = TakedownTable(connection)
    }

    /// Replaces an item with the same kind and id in place, or appends the item to its section. As an operator's write, it ends the item's
    /// takedown.
    func put(_ item: ValidatedItem) throws -> ItemChange {
        _ = try takedowns.remove([ItemKey(item)])
        let stream = try stream(of: item)
        if try update(item, in: stream) { return .replaced }
        // The kind may belong to another stream now, in which the item has no position yet.
        let isKnown = try remove(ItemKey(item))
        try insert(item, in: stream, at: OrderMaintenance(StoredStream(connection: connection, stream: stream)).atEnd())
        return isKnown ? .replaced : .added
    }

    /// Replaces an item in place; returns false if the item is not in the stream.
    func update(_ item: ValidatedItem, in stream: StreamID) throws -> Bool {
        try connection.query(
            "UPDATE item SET variant = $4, body = $5 WHERE kind = $2 AND id = $3 AND lane = $1", .integer(stream.rawValue),
            .kind(item.kind),
            .text(item.id), .text(item.variant), .utf8(item.body)
        ).affected > 0
    }

    /// Inserts an item at a free position. An advertisement without a listing is listed after all content.
    func insert(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        try connection.query(
            "INSERT INTO item (lane, position, kind, id, variant, body) VALUES ($1, $2, $3, $4, $5, $6)", .integer(stream.rawValue),
            .integer(position), .kind(item.kind), .text(item.id), .text(item.variant), .utf8(item.body))
        try list(item)
    }

    /// Lists an advertisement after all content, unless it has a listing.
    func list(_ item: ValidatedItem) throws {
        guard item.stream == .advertisements else { return }
        try connection.query(
            """
            INSERT INTO ad_listing (lane, position, kind, id, session)
            SELECT 0, coalesce((SELECT max(position) FROM item WHERE lane = 0), \(Int64.min)), $1, $2, $3
            WHERE NOT EXISTS (SELECT 1 FROM ad_listing WHERE kind = $1 AND id = $2)
            """, .kind(item.kind), .text(item.id), .integer(.random(in: 1 ... .max)))
    }

    /// Removes an item; returns true if it existed.
    func remove(_ key: ItemKey) throws -> Bool {
        try connection.query("DELETE FROM item WHERE kind = $1 AND id = $2", .kind(key.kind), .text(key.id)).affected > 0
    }

    /// Returns the stream of an item according to the database, for every writer. Advertisements are in no section.
    func stream(of item: ValidatedItem) throws -> StreamID {
        guard item.stream == .content else { return item.stream }
        let rows = try connection.query("SELECT section FROM section_kind WHERE kind = $1", .kind(item.kind))
        return rows.isEmpty ? .content : StreamID(rawValue: rows.integer(0, 0))
    }
}

/// The table of blocked items, which no import or source can restore.
struct TakedownTable {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// The URLs in the texts of an item's fields, as a JSON list. The texts are copied with their escapes.
    ///
    /// Why: a body need not be valid for the server's JSON, which has no NUL. The creatives of a campaign are valid; they follow
    /// ``BlockedItem/creative``.
    private static let urls = #"""
        (SELECT coalesce('[' || string_agg(url, ',') || ']', '[]') FROM (
            (SELECT (regexp_matches(item.body, '"https?:(?:[^"\\]|\\.)*"', 'g'))[1] AS url LIMIT 64)
            UNION ALL SELECT to_json('\#(BlockedItem.creative)' || creative)::text FROM (
                SELECT json_array_elements_text(
                    CASE json_typeof(list) WHEN 'array' THEN list ELSE json_build_array(list) END) AS creative
                FROM (SELECT (item.body::json)->'creatives' AS list WHERE item.kind = '\#(Campaign.kind)') AS lists
            ) AS creatives
        ) AS found)
        """#

    /// To be called before the item is removed.
    func add(_ takedown: Takedown) throws {
        try connection.query(
            """
            INSERT INTO takedown (kind, id, at, reason, urls)
                VALUES ($1, $2, $3, $4, (SELECT \(Self.urls) FROM item WHERE kind = $1 AND id = $2))
            ON CONFLICT (kind, id) DO UPDATE
                SET at = excluded.at, reason = excluded.reason, urls = coalesce(excluded.urls, takedown.urls)
            """, .kind(takedown.item.kind), .text(takedown.item.id), .integer(takedown.at), .text(takedown.reason))
    }

    /// Takes down all items of a lane.
    func addAll(in stream: StreamID, at moment: Int64, reason: String?) throws {
        try connection.query(
            """
            INSERT INTO takedown (kind, id, at, reason, urls) SELECT kind, id, $2, $3, \(Self.urls) FROM item WHERE lane = $1
            ON CONFLICT (kind, id) DO UPDATE SET at = excluded.at, reason = excluded.reason, urls = excluded.urls
            """, .integer(stream.rawValue), .integer(moment), .text(reason))
    }

    /// Returns the number of removed entries.
    func remove(_ keys: [ItemKey]) throws -> Int {
        try connection.query(
            "DELETE FROM takedown USING unnest($1, $2) AS k (kind, id) WHERE takedown.kind = k.kind AND takedown.id = k.id",
            .kinds(keys.map(\.kind)), .texts(keys.map(\.id))
        ).affected
    }

    /// Returns at most `limit` entries after one, in the order of kind and id.
    static func list(_ snapshot: PostgresSnapshot, after key: ItemKey?, limit: Int) throws -> [Takedown] {
        let rows = try snapshot.rows(
            "SELECT kind, id, at, reason FROM takedown WHERE (kind, id) > ($1, $2) ORDER BY kind, id LIMIT $3", .kind(key?.kind ?? ""),
            .text(key?.id ?? ""), .integer(Int64(max(limit, 0))))
        return (0..<rows.count).map { row in
            let key = ItemKey(kind: rows.kind(row, 0), id: rows.text(row, 1))
            return Takedown(item: key, at: rows.integer(row, 2), reason: rows.optionalText(row, 3))
        }
    }

    static func urls(_ snapshot: PostgresSnapshot, limit: Int) throws -> [String] {
        let rows = try snapshot.rows("SELECT urls FROM takedown WHERE urls IS NOT NULL LIMIT $1", .integer(Int64(limit)))
        return (0..<rows.count).flatMap { PostgresFeedStore.urls(ofTakedown: rows.text($0, 0)) }
    }

    static func version(_ snapshot: PostgresSnapshot) throws -> TakedownVersion {
        let rows = try snapshot.rows("SELECT count(*), coalesce(max(at), 0) FROM takedown")
        return TakedownVersion(count: rows.integer(0, 0), last: rows.integer(0, 1))
    }

    static func takedown(of key: ItemKey, _ snapshot: PostgresSnapshot) throws -> Takedown? {
        let rows = try snapshot.rows("SELECT at, reason FROM takedown WHERE kind = $1 AND id = $2", .kind(key.kind), .text(key.id))
        return rows.isEmpty ? nil : Takedown(item: key, at: rows.integer(0, 0), reason: rows.optionalText(0, 1))
    }
}
