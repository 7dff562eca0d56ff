package import IntertwineFeed

/// An editorial change of the store. Several are applied together, see `SQLiteStore.apply`.
///
/// ```swift
/// let key = ItemKey(kind: "user", id: "jane")
/// let summary = try await store.apply([
///     .move(key, .before(ItemKey(kind: "user", id: "john"))),
///     .remove(ItemKey(kind: "ad", id: "1")),
/// ])
/// ```
///
/// Unlike an import, an operation states if the item must exist. This prevents accidental replacements and additions.
package enum StoreOperation: Sendable, Hashable {
    /// A position in a section relative to one of its items, in the order in which the section is shown (`SectionConfiguration.order`).
    ///
    /// In a section ordered by a field, the position applies only among items with an equal value.
    package enum Position: Sendable, Hashable {
        /// The position directly before an item.
        case before(ItemKey)
        /// The position directly after an item.
        case after(ItemKey)

        package var neighbour: ItemKey {
            switch self {
            case .before(let key), .after(let key): key
            }
        }
    }

    /// Adds an item that must not exist at the end of its section, as imports do. In a section that shows the newest items first, this is the top.
    case append(ValidatedItem)
    /// Adds an item that must not exist next to another one of its section.
    case insert(ValidatedItem, Position)
    /// Moves an existing item next to another one of its section, which must not be ordered by a field.
    case move(ItemKey, Position)
    /// Replaces an existing item in place.
    case update(ValidatedItem)
    /// Removes an existing item, and takes it down (``Takedown``).
    case remove(ItemKey)
    /// Removes all items of a section, which may be empty, and takes them down.
    ///
    /// The section ``advertisements`` selects the ads, and `SectionConfiguration.mainName` selects the items without a section.
    case clear(section: String)

    /// The limit of operations in one list.
    package static let limit = 1_000

    /// The section name that selects the stream of ads. A configured section of this name takes precedence.
    package static let advertisements = "advertisements"

    /// The key of the item that the operation changes; nil for an operation on a section.
    ///
    /// ```swift
    /// StoreOperation.remove(ItemKey(kind: "ad", id: "1")).key?.description  // "ad:1"
    /// StoreOperation.clear(section: "news").key  // nil
    /// ```
    package var key: ItemKey? {
        switch self {
        case .append(let item), .insert(let item, _), .update(let item): ItemKey(item)
        case .move(let key, _), .remove(let key): key
        case .clear: nil
        }
    }

    /// The item that the operation stores.
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

/// The result of a list of operations.
///
/// ```swift
/// let summary = try await store.apply([.clear(section: "news")])
/// print("\(summary.removed) removed, first \(summary.cleared.prefix(3))")
/// ```
package struct StoreOperationSummary: Sendable, Hashable {
    /// The number of appended and inserted items.
    package var inserted = 0
    /// The number of moved items.
    package var moved = 0
    /// The number of items that were replaced in place.
    package var updated = 0
    /// The number of items removed individually and by clearing.
    package var removed = 0
    /// The first items that were removed by clearing, up to ``clearedLimit``.
    package var cleared: [ItemKey] = []

    /// The maximum number of items in ``cleared``: 100.
    static let clearedLimit = 100

    /// Creates a summary. Without arguments, no operation had an effect.
    package init(inserted: Int = 0, moved: Int = 0, updated: Int = 0, removed: Int = 0) {
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
        self.removed = removed
    }
}

/// An error of a list of operations, of which none was applied.
///
/// ```swift
/// do {
///     _ = try await store.apply(operations)
/// } catch let error as StoreOperationError {
///     print("operation \(error.index): \(error.reason)")  // "operation 0: user:jane does not exist"
/// }
/// ```
package struct StoreOperationError: Error, Sendable, Hashable {
    /// The reason why an operation failed.
    package enum Reason: Error, Sendable, Hashable {
        /// The item does not exist.
        case unknown(ItemKey)
        /// The item exists already.
        case known(ItemKey)
        /// The item is its own neighbour.
        case besideItself(ItemKey)
        /// The two items do not belong to one section.
        case elsewhere(ItemKey, than: ItemKey)
        /// The section of the item is ordered by a field, so the item cannot be moved.
        case ordered(ItemKey, by: String)
        /// The item is taken down, and its release is not permitted.
        case takenDown(ItemKey)
        /// No section has this name.
        case unknownSection(String)
        /// The list has more than ``StoreOperation/limit`` operations.
        case tooMany
    }

    /// The index of the failed operation, counted from 0.
    package var index: Int
    /// The reason why the operation failed.
    package var reason: Reason

    /// Creates an error of the operation at an index.
    package init(index: Int, reason: Reason) {
        self.index = index
        self.reason = reason
    }
}

extension StoreOperationError.Reason: CustomStringConvertible {
    /// The reason as one line for operators.
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
