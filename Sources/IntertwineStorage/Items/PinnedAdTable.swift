import Foundation
import GRDB
import IntertwineFeed

/// Where imports listed advertisements among the content.
///
/// A place is the position of the content item that was listed last before it, and holds whatever becomes of that item. An import says anew where
/// the advertisements that it brings are listed, and leaves the others as they are. A row whose advertisement is gone is passed over: the
/// next import that brings it back replaces it.
struct PinnedAdTable {
    /// Before all content of a lane.
    private static let top = Int64.min

    private let database: Database
    private let forget: SQLStatement
    private let insert: SQLStatement
    /// Tells what this import listed from what others did.
    private let session = Int64.random(in: 1 ... .max)
    /// The content item that was brought last.
    private var neighbour: ItemKey?

    init(_ database: Database) throws {
        self.database = database
        forget = try SQLStatement(database, "DELETE FROM ad_listing WHERE kind = ? AND id = ? AND session <> ?")
        insert = try SQLStatement(database, "INSERT INTO ad_listing (lane, position, kind, id, session) VALUES (?, ?, ?, ?, ?)")
    }

    /// Takes note of what an import brings, one item after another.
    mutating func update(_ item: ValidatedItem) throws {
        guard item.stream == .advertisements else {
            neighbour = ItemKey(item)
            return
        }
        try forget.bind(1, item.kind)
        try forget.bind(2, item.id)
        try forget.bind(3, session)
        try forget.run()
        let place = try neighbour.flatMap { try location(of: $0) } ?? (StreamID.content, Self.top)
        try add(ItemKey(item), stream: place.0, position: place.1)
    }

    /// Lists one that nobody has listed behind all content.
    func append(_ item: ValidatedItem) throws {
        guard item.stream == .advertisements else { return }
        let known = try SQLStatement(database, "SELECT 1 FROM ad_listing WHERE kind = ? AND id = ? LIMIT 1")
        defer { known.reset() }
        try known.bind(1, item.kind)
        try known.bind(2, item.id)
        guard try !known.step() else { return }
        let end = try SQLStatement.integer(database, "SELECT max(position) FROM item WHERE lane = ?", .integer(StreamID.content.rawValue))
        try add(ItemKey(item), stream: .content, position: end ?? Self.top)
    }

    /// Lists one behind a position of content that the caller knows.
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

    /// Whether any is listed behind a position of a lane.
    static func hasAny(in lane: StreamID, after position: Int64, of database: Database) throws -> Bool {
        try SQLStatement.integer(
            database, "SELECT 1 FROM ad_listing WHERE lane = ? AND position > ? LIMIT 1", .integer(lane.rawValue), .integer(position))
            != nil
    }

    /// Keeps what is listed behind the items of a lane behind them, which are about to move: those from one position up to the next.
    static func move(from old: Int64, before end: Int64, to new: Int64, in lane: StreamID, of database: Database) throws {
        try SQLStatement.run(
            database, "UPDATE ad_listing SET position = ? WHERE lane = ? AND position >= ? AND position < ?", .integer(new),
            .integer(lane.rawValue), .integer(old), .integer(end))
    }

    /// The same for the items of a kind that are about to stand in another lane, each by a step further.
    static func move(_ kind: String, from old: StreamID, to new: StreamID, by step: Int64, in database: Database) throws {
        try SQLStatement.run(
            database,
            """
            UPDATE ad_listing SET lane = ?, position = position + ? WHERE lane = ? AND EXISTS (
                SELECT 1 FROM item WHERE item.lane = ad_listing.lane AND item.position = ad_listing.position AND item.kind = ?
            )
            """, .integer(new.rawValue), .integer(step), .integer(old.rawValue), .text(kind))
    }
}

extension SQLiteSnapshot {
    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { try TakedownTable.items(of: kind, limit: limit, database) }

    func listings(in lane: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        let statement = try SQLStatement(
            database,
            """
            SELECT a.kind, a.id, a.variant, a.position, a.body, l.position FROM ad_listing AS l
            CROSS JOIN item AS a ON a.kind = l.kind AND a.id = l.id
            WHERE l.lane = ? AND l.position >= ? AND l.position < ? AND +a.lane = \(StreamID.advertisements.rawValue)
            ORDER BY l.position, l.number LIMIT ?
            """)
        try statement.bind(1, lane.rawValue)
        try statement.bind(2, positions.lowerBound)
        try statement.bind(3, positions.upperBound)
        try statement.bind(4, Int64(max(limit, 0)))
        var listings: [PinnedAd] = []
        try visit(statement) { row in listings.append(PinnedAd(position: statement.integer(5), item: row.item)) }
        return listings
    }
}
