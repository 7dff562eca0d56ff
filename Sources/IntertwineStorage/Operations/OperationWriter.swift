package import IntertwineFeed

/// The items that operations change, in whatever database they are, inside a transaction that is someone else's.
package protocol StoredItems {
    associatedtype Rows: StreamRows

    func rows(of lane: StreamID) -> Rows
    func location(of key: ItemKey) throws -> (lane: StreamID, position: Int64)?

    /// Where an item goes, whoever puts it.
    func stream(of item: ValidatedItem) throws -> StreamID
    func stream(ofSection name: String) throws -> StreamID?

    /// Puts an item that is unknown to a position that is free, and ends its takedown.
    func insert(_ item: ValidatedItem, in lane: StreamID, at position: Int64) throws
    func move(_ key: ItemKey, to position: Int64) throws

    /// Whether there is such an item.
    func update(_ item: ValidatedItem) throws -> Bool
    /// Whether there was such an item.
    func delete(_ key: ItemKey) throws -> Bool
    /// - Returns: how many there were, and the first of them, at most `limit`.
    func deleteAll(in lane: StreamID, naming limit: Int) throws -> (count: Int, first: [ItemKey])

    /// To be called while the item is there.
    func takeDown(_ takedown: Takedown) throws
    func takeDownAll(in lane: StreamID, at moment: Int64, reason: String?) throws
}

/// Does operations, one after another.
package struct OperationWriter<Items: StoredItems> {
    private let items: Items
    private let orders: [StreamID: SectionSort]
    private let reason: String?
    private let moment: Int64
    private var summary = StoreOperationSummary()

    /// - Parameters:
    ///   - orders: how lanes are shown; in the order of positions where nothing is said.
    ///   - reason: why items are removed, as their takedowns will say.
    package init(_ items: Items, orders: [StreamID: SectionSort], reason: String?, at moment: Int64) {
        (self.items, self.orders, self.reason, self.moment) = (items, orders, reason, moment)
    }

    /// Does all of a list.
    ///
    /// - Parameter refuse: given each operation that changes an item, and the item as it is by then; throws where it must not be changed.
    /// - Throws: ``StoreOperationError``; what `refuse` throws; what the database does.
    package mutating func apply(
        _ operations: [StoreOperation], in snapshot: some FeedSnapshot, unless refuse: (_ index: Int, _ item: FeedItem) throws -> Void
    ) throws -> StoreOperationSummary {
        for (index, operation) in operations.enumerated() {
            if let key = operation.subject, let item = try snapshot.item(kind: key.kind, id: key.id) { try refuse(index, item) }
            do {
                try apply(operation)
            } catch let reason as StoreOperationError.Reason {
                throw StoreOperationError(index: index, reason: reason)
            }
        }
        return summary
    }

    private mutating func apply(_ operation: StoreOperation) throws {
        switch operation {
        case .append(let item):
            try requireUnknown(ItemKey(item))
            let lane = try items.stream(of: item)
            try insert(item, in: lane, at: positions(lane).atEnd())
        case .insert(let item, let place):
            try requireUnknown(ItemKey(item))
            let neighbour = try location(of: place.neighbour)
            guard try neighbour.lane == items.stream(of: item) else {
                throw StoreOperationError.Reason.elsewhere(ItemKey(item), than: place.neighbour)
            }
            let side = side(place, in: neighbour.lane)
            try insert(item, in: neighbour.lane, at: positions(neighbour.lane).free(side, of: neighbour.position))
        case .move(let key, let place): try move(key, to: place)
        case .update(let item):
            guard try items.update(item) else { throw StoreOperationError.Reason.unknown(ItemKey(item)) }
            summary.updated += 1
        case .remove(let key):
            // Where there is no such item, nothing of all this remains.
            try items.takeDown(Takedown(item: key, at: moment, reason: reason))
            guard try items.delete(key) else { throw StoreOperationError.Reason.unknown(key) }
            summary.removed += 1
        case .clear(let section): try clear(section)
        }
    }

    private mutating func insert(_ item: ValidatedItem, in lane: StreamID, at position: Int64) throws {
        try items.insert(item, in: lane, at: position)
        summary.inserted += 1
    }

    private mutating func move(_ key: ItemKey, to place: StoreOperation.Position) throws {
        guard key != place.neighbour else { throw StoreOperationError.Reason.besideItself(key) }
        let item = try location(of: key)
        let neighbour = try location(of: place.neighbour)
        guard item.lane == neighbour.lane else { throw StoreOperationError.Reason.elsewhere(key, than: place.neighbour) }
        if let field = orders[item.lane]?.field { throw StoreOperationError.Reason.ordered(key, by: field.name) }
        let positions = positions(item.lane)
        let side = side(place, in: item.lane)
        summary.moved += 1
        // Where it stands there already, nothing changes.
        guard try positions.next(side, of: neighbour.position) != item.position else { return }
        try items.move(key, to: positions.free(side, of: neighbour.position))
    }

    private mutating func clear(_ section: String) throws {
        let lane = try items.stream(ofSection: section) ?? (section == StoreOperation.advertisements ? .advertisements : nil)
        guard let lane else { throw StoreOperationError.Reason.unknownSection(section) }
        try items.takeDownAll(in: lane, at: moment, reason: reason)
        let cleared = try items.deleteAll(in: lane, naming: StoreOperationSummary.clearedLimit - summary.cleared.count)
        summary.cleared += cleared.first
        summary.removed += cleared.count
    }

    /// The side of a neighbour in the order of positions: where a section is shown the other way round, what stands before an item there
    /// lies behind it.
    private func side(_ place: StoreOperation.Position, in lane: StreamID) -> PageDirection {
        let isReversed = orders[lane]?.isDescending == true
        return switch place {
        case .before: isReversed ? .forward : .backward
        case .after: isReversed ? .backward : .forward
        }
    }

    private func positions(_ lane: StreamID) -> OrderMaintenance<Items.Rows> {
        OrderMaintenance(items.rows(of: lane))
    }

    private func location(of key: ItemKey) throws -> (lane: StreamID, position: Int64) {
        guard let location = try items.location(of: key) else { throw StoreOperationError.Reason.unknown(key) }
        return location
    }

    private func requireUnknown(_ key: ItemKey) throws {
        guard try items.location(of: key) == nil else { throw StoreOperationError.Reason.known(key) }
    }
}
