import GRDB
package import IntertwineFeed

/// A writer that stores the items of an import one after another, inside a transaction of its caller.
struct ItemWriter {
    private let database: Database
    private let insert: SQLStatement
    private let update: SQLStatement
    private let layout: SectionLayout
    private let withheld: WithheldItems
    private var listings: PinnedAdTable
    private var lastPositions: [StreamID: Int64] = [:]

    init(_ database: Database) throws {
        self.database = database
        listings = try PinnedAdTable(database)
        insert = try SQLStatement(database, "\(ItemSchema.insertion) ON CONFLICT (kind, id) DO NOTHING")
        update = try SQLStatement(
            database, "UPDATE item SET variant = ?4, body = ?5 WHERE kind = ?2 AND id = ?3 AND lane = ?1")
        layout = try SectionLayout(database.session)
        withheld = try WithheldItems(database)
    }

    /// Appends an item to its section, or replaces the item with its kind and id in place, unless it is taken down.
    mutating func upsert(_ item: ValidatedItem) throws -> ItemChange {
        if try withheld.contains(kind: item.kind, id: item.id) { return .withheld }
        let change = try write(item)
        try listings.update(item)
        return change
    }

    private mutating func write(_ item: ValidatedItem) throws -> ItemChange {
        let stream = layout.stream(of: item)
        if try append(item, to: stream) { return .added }
        try update.bind(1, stream.rawValue)
        try update.bind(2, item.kind)
        try update.bind(3, item.id)
        try update.bind(4, item.variant)
        try update.bind(5, text: item.body)
        try update.run()
        if database.changesCount > 0 { return .replaced }
        // The kind belongs to another stream now, in which the item has no position yet.
        try SQLStatement.run(database, "DELETE FROM item WHERE kind = ? AND id = ?", .text(item.kind), .text(item.id))
        _ = try append(item, to: stream)
        return .replaced
    }

    private mutating func append(_ item: ValidatedItem, to stream: StreamID) throws -> Bool {
        let position = try ItemPosition.next(after: lastPosition(of: stream))
        try insert.bind(item, in: stream, at: position)
        try insert.run()
        guard database.changesCount > 0 else { return false }
        lastPositions[stream] = position
        return true
    }

    private mutating func lastPosition(of stream: StreamID) throws -> Int64 {
        if let position = lastPositions[stream] { return position }
        let position = try SQLStatement.integer(database, "SELECT max(position) FROM item WHERE lane = ?", .integer(stream.rawValue)) ?? 0
        lastPositions[stream] = position
        return position
    }
}

struct WithheldItems {
    private let find: SQLStatement
    private let isEmpty: Bool

    init(_ database: any SQLConnection) throws {
        find = try SQLStatement(database, "SELECT 1 FROM takedown WHERE kind = ? AND id = ?")
        isEmpty = try SQLStatement.integer(database, "SELECT 1 FROM takedown WHERE kind >= '' LIMIT 1") == nil
    }

    func contains(kind: String, id: String) throws -> Bool {
        guard !isEmpty else { return false }
        defer { find.reset() }
        try find.bind(1, kind)
        try find.bind(2, id)
        return try find.step()
    }
}

extension SQLStatement {
    func bind(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        try bind(1, stream.rawValue)
        try bind(2, position)
        try bind(3, item.kind)
        try bind(4, item.id)
        try bind(5, item.variant)
        try bind(6, text: item.body)
    }
}

extension SQLiteStore {
    package func put(_ item: ValidatedItem) async throws -> ItemChange {
        try await put(item) { _ in }
    }

    package func remove(kind: String, id: String) async throws -> Bool {
        try await write { try StoredItemTable($0.session).delete(ItemKey(kind: kind, id: id)) }
    }
}

extension SQLiteStore {
    /// Stores an item unless `refuse` rejects the change. Both run in one transaction, so the stored item cannot change in between.
    package func put(
        _ item: ValidatedItem, releasing: Bool = true, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> ItemChange {
        try await write { database, note in
            let old = try SQLiteSnapshot(database: database).item(kind: item.kind, id: item.id)
            try refuse(old)
            let (change, stream) = try StoredItemTable(database.session, releasing: releasing).put(item)
            if let stream, let old, old.variant == item.variant {
                note.replace(InPlaceUpdate(kind: item.kind, stream: stream, position: old.position))
            } else {
                note.doOther()
            }
            return change
        }
    }
}
