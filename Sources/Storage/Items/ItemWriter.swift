import Feed
import GRDB

/// Puts items into the store, one after another, inside a transaction that is someone else's.
struct ItemWriter {
    private let database: Database
    private let insert: SQLStatement
    private let update: SQLStatement
    private let delete: SQLStatement
    private let sections: SectionKinds
    /// The last position of each lane, read when first needed.
    private var lastPositions: [Lane: Int64] = [:]

    init(_ database: Database) throws {
        self.database = database
        insert = try SQLStatement(database, "\(ItemSchema.insertion) ON CONFLICT (kind, id) DO NOTHING")
        update = try SQLStatement(database, "UPDATE item SET variant = ?4, body = ?5 WHERE kind = ?2 AND id = ?3 AND lane = ?1")
        delete = try SQLStatement(database, "DELETE FROM item WHERE kind = ? AND id = ?")
        sections = try SectionKinds(database)
    }

    /// Appends an item to its section or, where its kind and id are known, replaces the old one in its place.
    mutating func put(_ item: ValidItem) throws -> ItemChange {
        let lane = sections.lane(of: item)
        if try append(item, to: lane) { return .added }
        update.bind(1, lane.rawValue)
        update.bind(2, item.kind)
        update.bind(3, item.id)
        update.bind(4, item.variant)
        update.bind(5, text: item.body)
        try update.run()
        if database.changesCount > 0 { return .replaced }
        // Its kind belongs to another lane now, in which it has no place yet.
        _ = try remove(kind: item.kind, id: item.id)
        _ = try append(item, to: lane)
        return .replaced
    }

    /// Whether there was such an item.
    func remove(kind: String, id: String) throws -> Bool {
        delete.bind(1, kind)
        delete.bind(2, id)
        try delete.run()
        return database.changesCount > 0
    }

    private mutating func append(_ item: ValidItem, to lane: Lane) throws -> Bool {
        let position = try ItemSchema.position(after: lastPosition(of: lane))
        insert.bind(item, in: lane, at: position)
        try insert.run()
        guard database.changesCount > 0 else { return false }
        lastPositions[lane] = position
        return true
    }

    private mutating func lastPosition(of lane: Lane) throws -> Int64 {
        if let position = lastPositions[lane] { return position }
        let position = try Int64.fetchOne(database, sql: "SELECT max(position) FROM item WHERE lane = ?", arguments: [lane.rawValue]) ?? 0
        lastPositions[lane] = position
        return position
    }
}
