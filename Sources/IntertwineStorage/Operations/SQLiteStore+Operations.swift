import GRDB
public import IntertwineFeed
import Synchronization

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
    /// - Throws: ``StoreOperationFault``; what `refuse` throws; `StoreError.unavailable`.
    public func apply(
        _ operations: [StoreOperation], reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        guard operations.count <= Self.operationLimit else {
            throw StoreOperationFault(index: Self.operationLimit, reason: .tooMany)
        }
        let orders = orders.withLock { $0 }
        return try await StoreError.wrapping {
            try await pool.write { database in
                let snapshot = SQLiteSnapshot(database: database)
                var writer = try OperationWriter(database, orders: orders, reason: reason, at: moment)
                for (index, operation) in operations.enumerated() {
                    if let key = operation.subject, let item = try snapshot.item(kind: key.kind, id: key.id) {
                        try refuse(index, item)
                    }
                    do {
                        try writer.apply(operation)
                    } catch let reason as StoreOperationFault.Reason {
                        throw StoreOperationFault(index: index, reason: reason)
                    }
                }
                return writer.summary
            }
        }
    }
}
