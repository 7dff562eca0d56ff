import GRDB
public import IntertwineFeed

extension SQLiteStore {
    /// Removes an item and keeps it away until it is released; see ``Takedown``. One that is not there is kept away all the same.
    ///
    /// - Parameters:
    ///   - moment: milliseconds since 1970-01-01 UTC.
    ///   - refuse: given the item as it is, or nil; throws where it must not be taken down. In the same transaction: nobody can change the
    ///     item in between.
    /// - Returns: whether the item was there.
    /// - Throws: what `refuse` throws; `StoreError.unavailable`.
    public func takeDown(
        _ key: ItemKey, reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        unless refuse: @escaping @Sendable (FeedItem?) throws -> Void = { _ in }
    ) async throws -> Bool {
        try await write { database in
            try refuse(SQLiteSnapshot(database: database).item(kind: key.kind, id: key.id))
            try TakedownTable(database).add(Takedown(item: key, at: moment, reason: reason))
            return try ItemWriter(database).remove(kind: key.kind, id: key.id)
        }
    }

    /// Ends takedowns. The items themselves come back when somebody brings them.
    ///
    /// - Returns: how many of them had been taken down.
    /// - Throws: `StoreError.unavailable`
    public func release(_ keys: [ItemKey]) async throws -> Int {
        try await write { database in
            let takedowns = try TakedownTable(database)
            return try keys.count { try takedowns.remove($0) }
        }
    }

    /// The takedown of an item; nil where there is none.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0).takedown(of: key) }
    }

    /// At most `limit` takedowns, in the order of kind and id, beginning behind one.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedowns(after key: ItemKey? = nil, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(
                database,
                "SELECT kind, id, at, reason FROM takedown WHERE (kind, id) > (?1, ?2) ORDER BY kind, id LIMIT ?3")
            defer { statement.reset() }
            try statement.bind(1, key?.kind ?? "")
            try statement.bind(2, key?.id ?? "")
            try statement.bind(3, Int64(max(limit, 0)))
            var takedowns: [Takedown] = []
            while try statement.step() {
                takedowns.append(
                    Takedown(
                        item: ItemKey(kind: statement.text(0), id: statement.text(1)), at: statement.integer(2),
                        reason: statement.optionalText(3)))
            }
            return takedowns
        }
    }
}
