import GRDB
public import IntertwineFeed
import Synchronization

/// One change of the store, as those who manage its data think of it. Several are done together: see ``SQLiteStore/apply(_:reason:at:unless:)``.
///
/// Other than an import, an operation says whether the item is to be there: nothing is replaced by accident, or made by a slip.
public enum StoreOperation: Sendable, Hashable {
    /// A place among the items of a section, as one of them sees it and as the section is shown (`SectionConfiguration.order`). Where it is shown in
    /// the order of a field, it tells only where an inserted item stands among those that have the same value.
    public enum Position: Sendable, Hashable {
        case before(ItemKey)
        case after(ItemKey)

        package var neighbour: ItemKey {
            switch self {
            case .before(let key), .after(let key): key
            }
        }
    }

    /// Puts an item that is not there at the end of its section as imports do, which is the top of one that is shown newest first.
    case append(ValidatedItem)
    /// Puts an item that is not there next to another one of its section.
    case insert(ValidatedItem, Position)
    /// Puts an item that is there next to another one of its section, which must not be ordered by a field.
    case move(ItemKey, Position)
    /// Replaces an item that is there, in its place.
    case update(ValidatedItem)
    /// Removes an item that is there, and takes it down (``Takedown``).
    case remove(ItemKey)
    /// Removes all items of a section, which may be empty, and takes them down: ``advertisements`` for those, `SectionConfiguration.mainName` for what no section takes.
    case clear(section: String)

    /// What the advertisements' lane is called where a section is named. A section of that name goes before.
    public static let advertisements = "advertisements"

    /// The item that the operation changes; nil where it is about a section.
    public var key: ItemKey? {
        switch self {
        case .append(let item), .insert(let item, _), .update(let item): ItemKey(item)
        case .move(let key, _), .remove(let key): key
        case .clear: nil
        }
    }

    /// The item that the operation brings.
    package var item: ValidatedItem? {
        switch self {
        case .append(let item), .insert(let item, _), .update(let item): item
        case .move, .remove, .clear: nil
        }
    }

    /// The item that the operation changes, where it is one that must be there.
    package var subject: ItemKey? {
        switch self {
        case .append, .insert, .clear: nil
        case .move(let key, _), .remove(let key): key
        case .update(let item): ItemKey(item)
        }
    }
}

extension SQLiteStore {
    /// Operations in one list.
    public static let operationLimit = 1_000

    /// Does a list of operations in their order and in one transaction: all of it or, at the first that cannot be done, nothing.
    ///
    /// A page changes only where an item of it does, or one comes to stand among them. A cursor that was given out before goes on behind the
    /// item it was made at. Where the positions between two items are used up, up to some thousand items behind them are pushed towards
    /// the end: a walk under way then misses none of them, and may meet one that it met before (in a section that is read newest first, it
    /// is the other way round).
    ///
    /// What is removed stays away until it is released, and what is appended or inserted is released: see ``Takedown``.
    ///
    /// - Parameters:
    ///   - reason: why items are removed, as their takedowns will say.
    ///   - moment: milliseconds since 1970-01-01 UTC.
    ///   - refuse: given the index of each operation that changes an item, and the item as it is by then; throws where it must not
    ///     be changed. Called inside the transaction, so nobody can change the item in between.
    /// - Throws: ``StoreOperationError``; what `refuse` throws; `StoreError.unavailable`.
    public func apply(
        _ operations: [StoreOperation], reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        guard operations.count <= Self.operationLimit else {
            throw StoreOperationError(index: Self.operationLimit, reason: .tooMany)
        }
        let orders = orders.withLock { $0 }
        return try await StoreError.wrapping {
            try await pool.write { database in
                var writer = try OperationWriter(OperationItems(database), orders: orders, reason: reason, at: moment)
                return try writer.apply(operations, in: SQLiteSnapshot(database: database), unless: refuse)
            }
        }
    }
}

/// What a list of operations did.
public struct StoreOperationSummary: Sendable, Hashable {
    /// Items appended and inserted.
    public var inserted = 0
    public var moved = 0
    public var updated = 0
    /// Items removed, one by one and by clearing.
    public var removed = 0
    /// The first items that clearing removed, up to ``clearedLimit`` of them.
    public var cleared: [ItemKey] = []

    public static let clearedLimit = 100

    public init(inserted: Int = 0, moved: Int = 0, updated: Int = 0, removed: Int = 0) {
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
        self.removed = removed
    }
}

/// Why a list of operations was not done: none of it was.
public struct StoreOperationError: Error, Sendable, Hashable {
    public enum Reason: Error, Sendable, Hashable {
        /// There is no such item.
        case unknown(ItemKey)
        /// The item is there already.
        case known(ItemKey)
        /// An item cannot stand next to itself.
        case besideItself(ItemKey)
        /// The two items do not belong to the same section.
        case elsewhere(ItemKey, than: ItemKey)
        /// The section of the item is ordered by a field, so nothing else can move it.
        case ordered(ItemKey, by: String)
        case unknownSection(String)
        /// There are more operations than ``SQLiteStore/operationLimit``.
        case tooMany
    }

    /// Which operation of the list could not be done, counted from 0.
    public var index: Int
    public var reason: Reason

    public init(index: Int, reason: Reason) {
        self.index = index
        self.reason = reason
    }
}

extension StoreOperationError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let key): "there is no \(key)"
        case .known(let key): "\(key) is there already"
        case .besideItself(let key): "\(key) cannot stand next to itself"
        case .elsewhere(let key, let other): "\(key) does not belong where \(other) stands"
        case .ordered(let key, let field): "\(key) stands where its \(ItemError.shown(field)) puts it; update that to move it"
        case .unknownSection(let name): "there is no section \"\(ItemError.shown(name))\""
        case .tooMany: "there are more than \(SQLiteStore.operationLimit) operations"
        }
    }
}
