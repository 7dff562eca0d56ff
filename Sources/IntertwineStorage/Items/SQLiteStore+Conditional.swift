import GRDB
public import IntertwineFeed

extension SQLiteStore {
    /// Puts an item unless `refuse` objects to what is there, both in one transaction: nobody can change the item in between. Ends the item's
    /// takedown, if there is one.
    ///
    /// - Parameter refuse: given the item of that kind and id, or nil; throws where it must not be replaced.
    /// - Throws: what `refuse` throws, or `StoreError.unavailable`.
    public func put(_ item: ValidItem, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void) async throws -> ItemChange {
        try await write { database in
            try refuse(SQLiteSnapshot(database: database).item(kind: item.kind, id: item.id))
            var writer = try ItemWriter(database)
            return try writer.put(item)
        }
    }
}
