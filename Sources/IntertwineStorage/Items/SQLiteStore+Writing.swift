import GRDB
public import IntertwineFeed

extension SQLiteStore {
    /// Appends an item to its lane, or replaces the one of the same kind and id in its place. On disk when it returns.
    /// Ends the item's takedown, if there is one.
    ///
    /// - Throws: `StoreError.unavailable`, for example while an import keeps the store locked for more than 5 s.
    public func put(_ item: ValidItem) async throws -> ItemChange {
        try await write { database in
            var writer = try ItemWriter(database)
            return try writer.put(item)
        }
    }

    /// Removes an item; false where there was none.
    ///
    /// - Throws: `StoreError.unavailable`
    public func remove(kind: String, id: String) async throws -> Bool {
        try await write { try ItemWriter($0).remove(kind: kind, id: id) }
    }
}
