import GRDB
import IntertwineFeed

/// Does operations, one after another, inside a transaction that is someone else's.
struct OperationWriter {
    private let database: Database
    private let kinds: SectionKinds
    private let orders: [Lane: SectionOrder]
    private let takedowns: TakedownTable
    private let reason: String?
    private let moment: Int64
    private let find: SQLStatement
    private let insert: SQLStatement
    private let update: SQLStatement
    private let move: SQLStatement
    private let delete: SQLStatement
    private(set) var summary = StoreOperationSummary()

    /// - Parameters:
    ///   - orders: how lanes are shown; in the order of positions where nothing is said.
    ///   - reason: why items are removed, as their takedowns will say.
    init(_ database: Database, orders: [Lane: SectionOrder], reason: String?, at moment: Int64) throws {
        self.database = database
        self.orders = orders
        self.reason = reason
        self.moment = moment
        takedowns = try TakedownTable(database)
        kinds = try SectionKinds(database)
        find = try SQLStatement(database, "SELECT lane, position FROM item WHERE kind = ? AND id = ?")
        insert = try SQLStatement(database, ItemSchema.insertion)
        update = try SQLStatement(database, "UPDATE item SET variant = ?, body = ? WHERE kind = ? AND id = ?")
        move = try SQLStatement(database, "UPDATE item SET position = ? WHERE kind = ? AND id = ?")
        delete = try SQLStatement(database, "DELETE FROM item WHERE kind = ? AND id = ?")
    }

    /// - Throws: `StoreOperationFault.Reason` where it cannot be done.
    mutating func apply(_ operation: StoreOperation) throws {
        switch operation {
        case .append(let item):
            try requireUnknown(ItemKey(item))
            let lane = kinds.lane(of: item)
            try insert(item, in: lane, at: positions(lane).atEnd())
        case .insert(let item, let place):
            try requireUnknown(ItemKey(item))
            let neighbour = try location(of: place.neighbour)
            guard neighbour.lane == kinds.lane(of: item) else {
                throw StoreOperationFault.Reason.elsewhere(ItemKey(item), than: place.neighbour)
            }
            try insert(item, in: neighbour.lane, at: positions(neighbour.lane).free(stored(place, in: neighbour.lane), neighbour.position))
        case .move(let key, let place): try move(key, to: place)
        case .update(let item): try update(item)
        case .remove(let key): try remove(key)
        case .clear(let section): try clear(section)
        }
    }

    private mutating func insert(_ item: ValidItem, in lane: Lane, at position: Int64) throws {
        _ = try takedowns.remove(ItemKey(item))
        try insert.bind(item, in: lane, at: position)
        try insert.run()
        try AdListingTable(database).append(item)
        summary.inserted += 1
    }

    private mutating func move(_ key: ItemKey, to place: StoreOperation.Place) throws {
        guard key != place.neighbour else { throw StoreOperationFault.Reason.besideItself(key) }
        let item = try location(of: key)
        let neighbour = try location(of: place.neighbour)
        guard item.lane == neighbour.lane else { throw StoreOperationFault.Reason.elsewhere(key, than: place.neighbour) }
        if let field = orders[item.lane]?.field { throw StoreOperationFault.Reason.ordered(key, by: field.name) }
        let positions = positions(item.lane)
        let place = stored(place, in: item.lane)
        summary.moved += 1
        // Where it stands there already, nothing changes.
        guard try positions.next(place, neighbour.position) != item.position else { return }
        try move.bind(1, try positions.free(place, neighbour.position))
        try move.bind(2, key.kind)
        try move.bind(3, key.id)
        try move.run()
    }

    private mutating func update(_ item: ValidItem) throws {
        let key = ItemKey(item)
        try update.bind(1, item.variant)
        try update.bind(2, text: item.body)
        try update.bind(3, key.kind)
        try update.bind(4, key.id)
        try update.run()
        guard database.changesCount > 0 else { throw StoreOperationFault.Reason.unknown(key) }
        summary.updated += 1
    }

    private mutating func remove(_ key: ItemKey) throws {
        try delete.bind(1, key.kind)
        try delete.bind(2, key.id)
        try delete.run()
        guard database.changesCount > 0 else { throw StoreOperationFault.Reason.unknown(key) }
        try takedowns.add(Takedown(item: key, at: moment, reason: reason))
        summary.removed += 1
    }

    private mutating func clear(_ section: String) throws {
        let lane = try SectionTable(database).lanes[section]
        guard let lane = lane ?? (section == StoreOperation.advertisements ? .advertisements : nil) else {
            throw StoreOperationFault.Reason.unknownSection(section)
        }
        try takedowns.addAll(in: lane, at: moment, reason: reason)
        let some = try SQLStatement(database, "SELECT kind, id FROM item WHERE lane = ? ORDER BY position LIMIT ?")
        defer { some.reset() }
        try some.bind(1, lane.rawValue)
        try some.bind(2, Int64(StoreOperationSummary.clearedLimit - summary.cleared.count))
        while try some.step() { summary.cleared.append(ItemKey(kind: some.text(0), id: some.text(1))) }
        try SQLStatement.run(database, "DELETE FROM item WHERE lane = ?", .integer(lane.rawValue))
        summary.removed += database.changesCount
    }

    /// A place in the order of positions: where a section is shown the other way round, what stands before an item there lies behind it.
    private func stored(_ place: StoreOperation.Place, in lane: Lane) -> StoreOperation.Place {
        guard orders[lane]?.isDescending == true else { return place }
        return switch place {
        case .before(let key): .after(key)
        case .after(let key): .before(key)
        }
    }

    private func positions(_ lane: Lane) -> LanePositions {
        LanePositions(database: database, lane: lane)
    }

    private func location(of key: ItemKey) throws -> (lane: Lane, position: Int64) {
        guard let location = try known(key) else { throw StoreOperationFault.Reason.unknown(key) }
        return location
    }

    private func requireUnknown(_ key: ItemKey) throws {
        guard try known(key) == nil else { throw StoreOperationFault.Reason.known(key) }
    }

    private func known(_ key: ItemKey) throws -> (lane: Lane, position: Int64)? {
        defer { find.reset() }
        try find.bind(1, key.kind)
        try find.bind(2, key.id)
        return try find.step() ? (Lane(rawValue: find.integer(0)), find.integer(1)) : nil
    }
}
