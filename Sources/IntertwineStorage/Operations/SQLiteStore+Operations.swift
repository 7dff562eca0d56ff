package import IntertwineFeed
import Synchronization

extension SQLiteStore {
    /// Applies a list of operations in order and in one transaction. If one operation fails, none is applied.
    ///
    /// A page changes only if one of its items changes, or an item is added among them. An earlier cursor continues after the item at which it was
    /// created. If no positions are left between two items, up to some thousand items after them move towards the end.
    /// Pagination in progress then misses none of them, but may repeat an item. In a section that shows the newest items first, it may
    /// miss an item, but repeats none.
    ///
    /// Removed items are taken down, and appended or inserted items are released: see `Takedown`.
    ///
    /// ```swift
    /// let (jane, john) = (ItemKey(kind: "user", id: "jane"), ItemKey(kind: "user", id: "john"))
    /// let summary = try await store.apply([.move(jane, .before(john)), .remove(ItemKey(kind: "ad", id: "1"))])
    /// summary.moved  // 1
    /// ```
    ///
    /// - Parameters:
    ///   - reason: the reason of removals, which their takedowns store.
    ///   - moment: milliseconds since 1970-01-01 UTC.
    ///   - releasing: true to end the takedowns of added items, false to refuse items that are taken down.
    ///   - refuse: receives the index of each operation that changes an item, and the current item, and throws to prevent the change. It
    ///     runs in the transaction, so the item cannot change in between.
    /// - Throws: `StoreOperationError`; the error of `refuse`; `StoreError.unavailable`.
    package func apply(
        _ operations: [StoreOperation], reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        releasing: Bool = true,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        guard operations.count <= StoreOperation.limit else {
            throw StoreOperationError(index: StoreOperation.limit, reason: .tooMany)
        }
        let orders = orders.withLock { $0 }
        return try await write { database in
            var writer = try OperationWriter(
                StoredItemTable(database.session, releasing: releasing), orders: orders, reason: reason, at: moment)
            return try writer.apply(operations, in: SQLiteSnapshot(database: database), unless: refuse)
        }
    }
}
