import GRDB
public import IntertwineFeed

/// A writer that stores items one after another, inside a transaction of its caller.
struct ItemWriter {
    private let database: Database
    private let insert: SQLStatement
    private let update: SQLStatement
    private let delete: SQLStatement
    private let sections: SectionKinds
    private let takedowns: TakedownTable
    private var listings: PinnedAdTable
    private let maintainsPinnedAds: Bool
    /// The last position of each stream, read on first use.
    private var lastPositions: [StreamID: Int64] = [:]

    /// Prepares statements.
    ///
    /// - Parameter maintainsPinnedAds: true if the items are in the order of a list with ads among content, which is recorded.
    init(_ database: Database, maintainsPinnedAds: Bool = false) throws {
        self.database = database
        self.maintainsPinnedAds = maintainsPinnedAds
        listings = try PinnedAdTable(database)
        insert = try SQLStatement(database, "\(ItemSchema.insertion) ON CONFLICT (kind, id) DO NOTHING")
        update = try SQLStatement(
            database, "UPDATE item SET variant = ?4, body = ?5, digest = ?6 WHERE kind = ?2 AND id = ?3 AND lane = ?1")
        delete = try SQLStatement(database, "DELETE FROM item WHERE kind = ? AND id = ?")
        sections = try SectionKinds(database)
        takedowns = try TakedownTable(database)
    }

    /// Stores an item as ``put(_:)`` does, unless it is taken down.
    mutating func upsert(_ item: ValidatedItem) throws -> ItemChange {
        if try takedowns.withholds(kind: item.kind, id: item.id) { return .withheld }
        let change = try move(item).change
        if maintainsPinnedAds { try listings.update(item) } else { try listings.append(item) }
        return change
    }

    /// Appends an item to its section, or replaces the item with its kind and id in place. As an operator's order, it ends the item's takedown.
    mutating func put(_ item: ValidatedItem) throws -> ItemChange {
        var note = ChangeLogEntry()
        return try put(item, over: nil, &note)
    }

    /// Stores an item as ``put(_:)`` does, and records the change.
    ///
    /// - Parameters:
    ///   - old: the stored item of that kind and id.
    ///   - note: records if more was done than a replacement in place.
    mutating func put(_ item: ValidatedItem, over old: FeedItem?, _ note: inout ChangeLogEntry) throws -> ItemChange {
        let wasTakenDown = try takedowns.remove(ItemKey(item))
        let (change, stream) = try move(item)
        try listings.append(item)
        if let stream, let old, old.variant == item.variant, stream != .advertisements, !wasTakenDown {
            note.replace(InPlaceUpdate(kind: item.kind, stream: stream, position: old.position))
        } else {
            note.doOther()
        }
        return change
    }

    /// Stores an item.
    ///
    /// - Returns: the change, and the stream if the item was replaced in place.
    private mutating func move(_ item: ValidatedItem) throws -> (change: ItemChange, stream: StreamID?) {
        let stream = sections.stream(of: item)
        if try append(item, to: stream) { return (.added, nil) }
        try update.bind(1, stream.rawValue)
        try update.bind(2, kind: item.kind)
        try update.bind(3, item.id)
        try update.bind(4, item.variant)
        try update.bind(5, text: item.body)
        try update.bind(6, RowDigest.of(item))
        try update.run()
        if database.changesCount > 0 { return (.replaced, stream) }
        // The kind belongs to another stream now, in which the item has no position yet.
        _ = try remove(kind: item.kind, id: item.id)
        _ = try append(item, to: stream)
        return (.replaced, nil)
    }

    /// Removes an item, and returns true if it existed.
    func remove(kind: String, id: String) throws -> Bool {
        try delete.bind(1, kind: kind)
        try delete.bind(2, id)
        try delete.run()
        return database.changesCount > 0
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

extension SQLStatement {
    /// Binds the seven values of ``ItemSchema/insertion``.
    func bind(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        try bind(1, stream.rawValue)
        try bind(2, position)
        try bind(3, kind: item.kind)
        try bind(4, item.id)
        try bind(5, item.variant)
        try bind(6, text: item.body)
        try bind(7, RowDigest.of(item))
    }
}

extension SQLiteStore {
    /// Appends an item to its stream, or replaces the item with its kind and id in place. The change is durable when it returns.
    /// Ends the item's takedown.
    ///
    /// - Throws: `StoreError.unavailable`, for example while an import keeps the store locked for more than 5 s.
    public func put(_ item: ValidatedItem) async throws -> ItemChange {
        try await write { database in
            var writer = try ItemWriter(database)
            return try writer.put(item)
        }
    }

    /// Removes an item; false if there is no such item.
    ///
    /// - Throws: `StoreError.unavailable`
    public func remove(kind: String, id: String) async throws -> Bool {
        try await write { try ItemWriter($0).remove(kind: kind, id: id) }
    }
}

extension SQLiteStore {
    /// Stores an item unless `refuse` rejects the change. Both run in one transaction, so the stored item cannot change in between.
    /// Ends the item's takedown.
    ///
    /// - Parameter refuse: receives the stored item of that kind and id, or nil, and throws to prevent the change.
    /// - Throws: the error of `refuse`, or `StoreError.unavailable`.
    public func put(_ item: ValidatedItem, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void) async throws -> ItemChange {
        try await write { database, note in
            let old = try SQLiteSnapshot(database: database).item(kind: item.kind, id: item.id)
            try refuse(old)
            var writer = try ItemWriter(database)
            return try writer.put(item, over: old, &note)
        }
    }
}
