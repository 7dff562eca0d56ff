import IntertwineFeed
import IntertwineStorage

/// Does operations, one after another, inside a transaction that is someone else's and has the writers' lock.
struct OperationWriter {
    private let connection: PostgresConnection
    private let writer: ItemWriter
    private let orders: [Lane: SectionOrder]
    private let takedowns: TakedownTable
    private let reason: String?
    private let moment: Int64
    private(set) var summary = StoreOperationSummary()

    /// - Parameters:
    ///   - orders: how lanes are shown; in the order of positions where nothing is said.
    ///   - reason: why items are removed, as their takedowns will say.
    init(_ connection: PostgresConnection, orders: [Lane: SectionOrder], reason: String?, at moment: Int64) {
        self.connection = connection
        self.orders = orders
        self.reason = reason
        self.moment = moment
        writer = ItemWriter(connection)
        takedowns = TakedownTable(connection)
    }

    /// - Throws: `StoreOperationFault.Reason` where it cannot be done.
    mutating func apply(_ operation: StoreOperation) throws {
        switch operation {
        case .append(let item):
            try requireUnknown(ItemKey(item))
            let lane = try writer.lane(of: item)
            try insert(item, in: lane, at: positions(lane).atEnd())
        case .insert(let item, let place):
            try requireUnknown(ItemKey(item))
            let neighbour = try location(of: place.neighbour)
            guard try neighbour.lane == writer.lane(of: item) else {
                throw StoreOperationFault.Reason.elsewhere(ItemKey(item), than: place.neighbour)
            }
            let side = side(place, in: neighbour.lane)
            try insert(item, in: neighbour.lane, at: positions(neighbour.lane).free(side, of: neighbour.position))
        case .move(let key, let place): try move(key, to: place)
        case .update(let item): try update(item)
        case .remove(let key): try remove(key)
        case .clear(let section): try clear(section)
        }
    }

    private mutating func insert(_ item: ValidItem, in lane: Lane, at position: Int64) throws {
        _ = try takedowns.remove([ItemKey(item)])
        try writer.insert(item, in: lane, at: position)
        summary.inserted += 1
    }

    private mutating func move(_ key: ItemKey, to place: StoreOperation.Place) throws {
        guard key != place.neighbour else { throw StoreOperationFault.Reason.besideItself(key) }
        let item = try location(of: key)
        let neighbour = try location(of: place.neighbour)
        guard item.lane == neighbour.lane else { throw StoreOperationFault.Reason.elsewhere(key, than: place.neighbour) }
        if let field = orders[item.lane]?.field { throw StoreOperationFault.Reason.ordered(key, by: field.name) }
        let positions = positions(item.lane)
        let side = side(place, in: item.lane)
        summary.moved += 1
        // Where it stands there already, nothing changes.
        guard try positions.next(side, of: neighbour.position) != item.position else { return }
        try connection.query(
            "UPDATE item SET position = $1 WHERE kind = $2 AND id = $3", .integer(try positions.free(side, of: neighbour.position)),
            .text(key.kind), .text(key.id))
    }

    private mutating func update(_ item: ValidItem) throws {
        let rows = try connection.query(
            "UPDATE item SET variant = $1, body = $2 WHERE kind = $3 AND id = $4", .text(item.variant), .utf8(item.body), .text(item.kind),
            .text(item.id))
        guard rows.affected > 0 else { throw StoreOperationFault.Reason.unknown(ItemKey(item)) }
        summary.updated += 1
    }

    private mutating func remove(_ key: ItemKey) throws {
        guard try writer.remove(key) else { throw StoreOperationFault.Reason.unknown(key) }
        try takedowns.add(Takedown(item: key, at: moment, reason: reason))
        summary.removed += 1
    }

    private mutating func clear(_ section: String) throws {
        let lane = try SectionTable(PostgresSnapshot(inside: connection)).lanes[section]
        guard let lane = lane ?? (section == StoreOperation.advertisements ? .advertisements : nil) else {
            throw StoreOperationFault.Reason.unknownSection(section)
        }
        try takedowns.addAll(in: lane, at: moment, reason: reason)
        let some = try connection.query(
            "SELECT kind, id FROM item WHERE lane = $1 ORDER BY position LIMIT $2", .integer(lane.rawValue),
            .integer(Int64(StoreOperationSummary.clearedLimit - summary.cleared.count)))
        for row in 0..<some.count { summary.cleared.append(ItemKey(kind: some.text(row, 0), id: some.text(row, 1))) }
        summary.removed += try connection.query("DELETE FROM item WHERE lane = $1", .integer(lane.rawValue)).affected
    }

    /// The side of a neighbour in the order of positions: where a section is shown the other way round, what stands before an item there
    /// lies behind it.
    private func side(_ place: StoreOperation.Place, in lane: Lane) -> PageDirection {
        let isReversed = orders[lane]?.isDescending == true
        return switch place {
        case .before: isReversed ? .forward : .backward
        case .after: isReversed ? .backward : .forward
        }
    }

    private func positions(_ lane: Lane) -> LanePositions {
        LanePositions(connection, lane)
    }

    private func location(of key: ItemKey) throws -> (lane: Lane, position: Int64) {
        guard let location = try known(key) else { throw StoreOperationFault.Reason.unknown(key) }
        return location
    }

    private func requireUnknown(_ key: ItemKey) throws {
        guard try known(key) == nil else { throw StoreOperationFault.Reason.known(key) }
    }

    private func known(_ key: ItemKey) throws -> (lane: Lane, position: Int64)? {
        let rows = try connection.query("SELECT lane, position FROM item WHERE kind = $1 AND id = $2", .text(key.kind), .text(key.id))
        return rows.isEmpty ? nil : (Lane(rawValue: rows.integer(0, 0)), rows.integer(0, 1))
    }
}
