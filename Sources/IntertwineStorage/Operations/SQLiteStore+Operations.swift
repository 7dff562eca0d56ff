package import IntertwineFeed
import Synchronization

extension SQLiteStore {
    /// It runs in the transaction, so the item cannot change in between.
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
