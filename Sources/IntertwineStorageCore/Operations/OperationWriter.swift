package import IntertwineFeed

package struct OperationWriter<Session: SQLSession> {
    private let items: StoredItemTable<Session>
    private let orders: [StreamID: SectionSort]
    private let reason: String?
    private let moment: Int64
    private var summary = StoreOperationSummary()

    package init(_ items: StoredItemTable<Session>, orders: [StreamID: SectionSort], reason: String?, at moment: Int64) {
        (self.items, self.orders, self.reason, self.moment) = (items, orders, reason, moment)
    }

    package mutating func apply(
        _ operations: [StoreOperation], in snapshot: some StoreSnapshot & SQLSession,
        unless refuse: (_ index: Int, _ item: FeedItem) throws -> Void
    ) throws -> StoreOperationSummary {
        for (index, operation) in operations.enumerated() {
            if let key = operation.subject, let item = try snapshot.storedItem(kind: key.kind, id: key.id) { try refuse(index, item) }
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
            let stream = items.stream(of: item)
            try insert(item, in: stream, at: positions(stream).atEnd())
        case .insert(let item, let target):
            try requireUnknown(ItemKey(item))
            let neighbour = try location(of: target.neighbour)
            guard neighbour.stream == items.stream(of: item) else {
                throw StoreOperationError.Reason.elsewhere(ItemKey(item), than: target.neighbour)
            }
            let side = side(target, in: neighbour.stream)
            try insert(item, in: neighbour.stream, at: positions(neighbour.stream).free(side, of: neighbour.position))
        case .move(let key, let target): try move(key, to: target)
        case .update(let item):
            try items.keep(before: item, at: moment)
            guard try items.update(item) else { throw StoreOperationError.Reason.unknown(ItemKey(item)) }
            summary.updated += 1
        case .remove(let key):
            // If the item does not exist, the transaction with this takedown is rolled back.
            try items.takeDown(Takedown(item: key, at: moment, reason: reason))
            guard try items.delete(key) else { throw StoreOperationError.Reason.unknown(key) }
            summary.removed += 1
        case .clear(let section): try clear(section)
        }
    }

    private mutating func insert(_ item: ValidatedItem, in stream: StreamID, at position: Int64) throws {
        try items.insert(item, in: stream, at: position)
        summary.inserted += 1
    }

    private mutating func move(_ key: ItemKey, to target: StoreOperation.Position) throws {
        guard key != target.neighbour else { throw StoreOperationError.Reason.besideItself(key) }
        let item = try location(of: key)
        let neighbour = try location(of: target.neighbour)
        guard item.stream == neighbour.stream else { throw StoreOperationError.Reason.elsewhere(key, than: target.neighbour) }
        if let field = orders[item.stream]?.field { throw StoreOperationError.Reason.ordered(key, by: field.name) }
        let positions = positions(item.stream)
        let side = side(target, in: item.stream)
        summary.moved += 1
        // An item that is already at the position does not move.
        guard try positions.next(side, of: neighbour.position) != item.position else { return }
        try items.move(key, to: positions.free(side, of: neighbour.position))
    }

    private mutating func clear(_ section: String) throws {
        let stream = items.stream(ofSection: section) ?? (section == StoreOperation.advertisements ? .advertisements : nil)
        guard let stream else { throw StoreOperationError.Reason.unknownSection(section) }
        try items.takeDownAll(in: stream, at: moment, reason: reason)
        let cleared = try items.deleteAll(in: stream, naming: StoreOperationSummary.clearedLimit - summary.cleared.count)
        summary.cleared += cleared.first
        summary.removed += cleared.count
    }

    private func side(_ target: StoreOperation.Position, in stream: StreamID) -> PageDirection {
        let isReversed = orders[stream]?.isDescending == true
        return switch target {
        case .before: isReversed ? .forward : .backward
        case .after: isReversed ? .backward : .forward
        }
    }

    private func positions(_ stream: StreamID) -> OrderMaintenance<Session> {
        items.order(of: stream)
    }

    private func location(of key: ItemKey) throws -> (stream: StreamID, position: Int64) {
        guard let location = try items.location(of: key) else { throw StoreOperationError.Reason.unknown(key) }
        return location
    }

    private func requireUnknown(_ key: ItemKey) throws {
        guard try items.location(of: key) == nil else { throw StoreOperationError.Reason.known(key) }
    }
}
