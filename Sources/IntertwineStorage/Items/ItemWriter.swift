import GRDB
public import IntertwineFeed

/// Puts items into the store, one after another, inside a transaction that is someone else's.
struct ItemWriter {
    private let database: Database
    private let insert: SQLStatement
    private let update: SQLStatement
    private let delete: SQLStatement
    private let sections: SectionKinds
    private let takedowns: TakedownTable
    private var listings: PinnedAdTable
    private let maintainsPinnedAds: Bool
    /// The last position of each lane, read when first needed.
    private var lastPositions: [StreamID: Int64] = [:]

    /// - Parameter isListing: whether the items come in the order in which somebody listed them, advertisements among content.
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

    /// As ``put(_:)``, but for an item that was taken down: that stays away.
    mutating func upsert(_ item: ValidatedItem) throws -> ItemChange {
        if try takedowns.withholds(kind: item.kind, id: item.id) { return .withheld }
        let change = try move(item).change
        if maintainsPinnedAds { try listings.update(item) } else { try listings.append(item) }
        return change
    }

    /// Appends an item to its section or, where its kind and id are known, replaces the old one in its place. An operator's word: it ends the
    /// item's takedown.
    mutating func put(_ item: ValidatedItem) throws -> ItemChange {
        var note = ChangeLogEntry()
        return try put(item, over: nil, &note)
    }

    /// The same.
    ///
    /// - Parameters:
    ///   - old: the item of that kind and id that is there.
    ///   - note: told whether more was done than to replace it in its place.
    mutating func put(_ item: ValidatedItem, over old: FeedItem?, _ note: inout ChangeLogEntry) throws -> ItemChange {
        let wasTakenDown = try takedowns.remove(ItemKey(item))
        let (change, lane) = try move(item)
        try listings.append(item)
        if let lane, let old, old.variant == item.variant, lane != .advertisements, !wasTakenDown {
            note.replace(InPlaceUpdate(kind: item.kind, stream: lane, position: old.position))
        } else {
            note.doOther()
        }
        return change
    }

    /// - Returns: what that did, and the lane where it replaced the old one in its place.
    private mutating func move(_ item: ValidatedItem) throws -> (change: ItemChange, lane: StreamID?) {
        let lane = sections.stream(of: item)
        if try append(item, to: lane) { return (.added, nil) }
        try update.bind(1, lane.rawValue)
        try update.bind(2, item.kind)
        try update.bind(3, item.id)
        try update.bind(4, item.variant)
        try update.bind(5, text: item.body)
        try update.bind(6, RowDigest.of(item))
        try update.run()
        if database.changesCount > 0 { return (.replaced, lane) }
        // Its kind belongs to another lane now, in which it has no place yet.
        _ = try remove(kind: item.kind, id: item.id)
        _ = try append(item, to: lane)
        return (.replaced, nil)
    }

    /// Whether there was such an item.
    func remove(kind: String, id: String) throws -> Bool {
        try delete.bind(1, kind)
        try delete.bind(2, id)
        try delete.run()
        return database.changesCount > 0
    }

    private mutating func append(_ item: ValidatedItem, to lane: StreamID) throws -> Bool {
        let position = try ItemSchema.position(after: lastPosition(of: lane))
        try insert.bind(item, in: lane, at: position)
        try insert.run()
        guard database.changesCount > 0 else { return false }
        lastPositions[lane] = position
        return true
    }

    private mutating func lastPosition(of lane: StreamID) throws -> Int64 {
        if let position = lastPositions[lane] { return position }
        let position = try SQLStatement.integer(database, "SELECT max(position) FROM item WHERE lane = ?", .integer(lane.rawValue)) ?? 0
        lastPositions[lane] = position
        return position
    }
}

/// What putting an item did.
public enum ItemChange: Sendable, Hashable {
    case added
    case replaced
    /// Nothing: the item was taken down, and has not been released.
    case withheld
}

extension SQLStatement {
    /// The seven values of ``ItemSchema/insertion``.
    func bind(_ item: ValidatedItem, in lane: StreamID, at position: Int64) throws {
        try bind(1, lane.rawValue)
        try bind(2, position)
        try bind(3, item.kind)
        try bind(4, item.id)
        try bind(5, item.variant)
        try bind(6, text: item.body)
        try bind(7, RowDigest.of(item))
    }
}

extension SQLiteStore {
    /// Appends an item to its lane, or replaces the one of the same kind and id in its place. On disk when it returns.
    /// Ends the item's takedown, if there is one.
    ///
    /// - Throws: `StoreError.unavailable`, for example while an import keeps the store locked for more than 5 s.
    public func put(_ item: ValidatedItem) async throws -> ItemChange {
        try await write { database in
            var writer = try ItemWriter(database)
            return try writer.put(item)
        }
    }

    /// Removes an item; false where there was none.
    ///
    /// - Throws: `StoreError.unavailable`
    public func remove(kind: String, id: String) async throws -> Bool {
        try await write { try ItemWriter($0).remove(kind: kind, id: id) }
    }
}

extension SQLiteStore {
    /// Puts an item unless `refuse` objects to what is there, both in one transaction: nobody can change the item in between. Ends the item's
    /// takedown, if there is one.
    ///
    /// - Parameter refuse: given the item of that kind and id, or nil; throws where it must not be replaced.
    /// - Throws: what `refuse` throws, or `StoreError.unavailable`.
    public func put(_ item: ValidatedItem, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void) async throws -> ItemChange {
        try await write { database, note in
            let old = try SQLiteSnapshot(database: database).item(kind: item.kind, id: item.id)
            try refuse(old)
            var writer = try ItemWriter(database)
            return try writer.put(item, over: old, &note)
        }
    }
}
