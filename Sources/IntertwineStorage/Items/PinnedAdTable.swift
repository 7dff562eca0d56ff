import Foundation
import GRDB
internal import IntertwineFeed

/// The table `ad_listing`: the positions of ads among the content, as imports listed them.
struct PinnedAdTable {
    private static let top = Int64.min

    private let database: Database
    private let forget: SQLStatement
    private let insert: SQLStatement
    private let session = Int64.random(in: 1 ... .max)
    private var neighbour: ItemKey?

    init(_ database: Database) throws {
        self.database = database
        forget = try SQLStatement(database, "DELETE FROM ad_listing WHERE kind = ? AND id = ? AND session <> ?")
        insert = try SQLStatement(database, "INSERT INTO ad_listing (lane, position, kind, id, session) VALUES (?, ?, ?, ?, ?)")
    }

    mutating func update(_ item: ValidatedItem) throws {
        guard item.stream == .advertisements else {
            neighbour = ItemKey(item)
            return
        }
        try forget.bind(1, item.kind)
        try forget.bind(2, item.id)
        try forget.bind(3, session)
        try forget.run()
        let anchor = try neighbour.flatMap { try location(of: $0) } ?? (StreamID.content, Self.top)
        try add(ItemKey(item), stream: anchor.0, position: anchor.1)
    }

    func add(_ key: ItemKey, stream: StreamID, position: Int64?) throws {
        try insert.bind(1, stream.rawValue)
        try insert.bind(2, position ?? Self.top)
        try insert.bind(3, key.kind)
        try insert.bind(4, key.id)
        try insert.bind(5, session)
        try insert.run()
    }

    private func location(of key: ItemKey) throws -> (StreamID, Int64)? {
        let find = try SQLStatement(database, "SELECT lane, position FROM item WHERE kind = ? AND id = ?")
        defer { find.reset() }
        try find.bind(1, key.kind)
        try find.bind(2, key.id)
        return try find.step() ? (StreamID(rawValue: find.integer(0)), find.integer(1)) : nil
    }
}

extension SQLiteSnapshot {
    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] {
        try TakedownTable(database.session).blockedItems(kind: kind, limit: limit)
    }

    func memberships() throws -> [CampaignMembership] { try TakedownTable(database.session).memberships() }

    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        let statement = try SQLStatement(
            database,
            """
            SELECT a.kind, a.id, a.variant, a.position, a.body, l.position FROM ad_listing AS l
            CROSS JOIN item AS a ON a.kind = l.kind AND a.id = l.id
            WHERE l.lane = ? AND l.position >= ? AND l.position < ? AND +a.lane = \(StreamID.advertisements.rawValue)
            ORDER BY l.position, l.number LIMIT ?
            """)
        try statement.bind(1, stream.rawValue)
        try statement.bind(2, positions.lowerBound)
        try statement.bind(3, positions.upperBound)
        try statement.bind(4, Int64(max(limit, 0)))
        var listings: [PinnedAd] = []
        try visit(statement) { row in listings.append(PinnedAd(position: statement.integer(5), item: row.item)) }
        return listings
    }
}
