package import IntertwineFeed

/// Unlike an import, an operation states if the item must exist.
package enum StoreOperation: Sendable, Hashable {
    /// A position in a section relative to one of its items, in the order in which the section is shown (`SectionConfiguration.order`).
    package enum Position: Sendable, Hashable {
        case before(ItemKey)
        case after(ItemKey)

        package var neighbour: ItemKey {
            switch self {
            case .before(let key), .after(let key): key
            }
        }
    }

    /// Adds an item that must not exist at the end of its section, as imports do.
    case append(ValidatedItem)
    /// Adds an item that must not exist next to another one of its section.
    case insert(ValidatedItem, Position)
    /// Moves an existing item next to another one of its section, which must not be ordered by a field.
    case move(ItemKey, Position)
    case update(ValidatedItem)
    case remove(ItemKey)
    case clear(section: String)

    package static let limit = 1_000

    package static let advertisements = "advertisements"

    package var key: ItemKey? {
        switch self {
        case .append(let item), .insert(let item, _), .update(let item): ItemKey(item)
        case .move(let key, _), .remove(let key): key
        case .clear: nil
        }
    }

    package var item: ValidatedItem? {
        switch self {
        case .append(let item), .insert(let item, _), .update(let item): item
        case .move, .remove, .clear: nil
        }
    }

    /// The key of the item that the operation changes, if it must exist.
    package var subject: ItemKey? {
        switch self {
        case .append, .insert, .clear: nil
        case .move(let key, _), .remove(let key): key
        case .update(let item): ItemKey(item)
        }
    }
}

package struct StoreOperationSummary: Sendable, Hashable {
    package var inserted = 0
    package var moved = 0
    package var updated = 0
    package var removed = 0
    package var cleared: [ItemKey] = []

    static let clearedLimit = 100

    package init(inserted: Int = 0, moved: Int = 0, updated: Int = 0, removed: Int = 0) {
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
        self.removed = removed
    }
}

package struct StoreOperationError: Error, Sendable, Hashable {
    package enum Reason: Error, Sendable, Hashable {
        case unknown(ItemKey)
        case known(ItemKey)
        case besideItself(ItemKey)
        case elsewhere(ItemKey, than: ItemKey)
        /// The section of the item is ordered by a field, so the item cannot be moved.
        case ordered(ItemKey, by: String)
        case takenDown(ItemKey)
        case unknownSection(String)
        case tooMany
    }

    package var index: Int
    package var reason: Reason

    package init(index: Int, reason: Reason) {
        self.index = index
        self.reason = reason
    }
}

extension StoreOperationError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknown(let key): "\(key) does not exist"
        case .known(let key): "\(key) already exists"
        case .besideItself(let key): "\(key) cannot be placed next to itself"
        case .elsewhere(let key, let other): "\(key) does not belong to the section of \(other)"
        case .ordered(let key, let field): "\(key) is ordered by its \(ItemError.shown(field)); update that field to move it"
        case .takenDown(let key): "\(key) is taken down"
        case .unknownSection(let name): "unknown section \"\(ItemError.shown(name))\""
        case .tooMany: "more than \(StoreOperation.limit) operations"
        }
    }
}
