import Feed
import GRDB

/// Does operations, one after another, inside a transaction that is someone else's.
struct OperationWriter {
    private let database: Database
    private let kinds: SectionKinds
    private let orders: [Lane: SectionOrder]
    private let find: SQLStatement
    private let insert: SQLStatement
    private let update: SQLStatement
    private let move: SQLStatement
    private let delete: SQLStatement
    private(set) var summary = StoreOperationSummary()

    /// - Parameter orders: how lanes are shown; in the order of positions where nothing is said.
    init(_ database: Database, orders: [Lane: SectionOrder]) throws {
        self.database = database
        self.orders = orders
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
        insert.bind(item, in: lane, at: position)
        try insert.run()
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
        move.bind(1, try positions.free(place, neighbour.position))
        move.bind(2, key.kind)
        move.bind(3, key.id)
        try move.run()
    }

    private mutating func update(_ item: ValidItem) throws {
        let key = ItemKey(item)
        update.bind(1, item.variant)
        update.bind(2, text: item.body)
        update.bind(3, key.kind)
        update.bind(4, key.id)
        try update.run()
        guard database.changesCount > 0 else { throw StoreOperationFault.Reason.unknown(key) }
        summary.updated += 1
    }

    private mutating func remove(_ key: ItemKey) throws {
        delete.bind(1, key.kind)
        delete.bind(2, key.id)
        try delete.run()
        guard database.changesCount > 0 else { throw StoreOperationFault.Reason.unknown(key) }
        summary.removed += 1
    }

    private mutating func clear(_ section: String) throws {
        let lane = try SectionTable(database).lanes[section]
        guard let lane = lane ?? (section == StoreOperation.advertisements ? .advertisements : nil) else {
            throw StoreOperationFault.Reason.unknownSection(section)
        }
        try database.execute(sql: "DELETE FROM item WHERE lane = ?", arguments: [lane.rawValue])
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
        find.bind(1, key.kind)
        find.bind(2, key.id)
        return try find.step() ? (Lane(rawValue: find.integer(0)), find.integer(1)) : nil
    }
}
