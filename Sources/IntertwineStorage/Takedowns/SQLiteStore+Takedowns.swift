import GRDB
public import IntertwineFeed

extension SQLiteStore {
    /// Removes an item and keeps it out of the store until it is released; see `Takedown`. An item that is not stored can be taken down too.
    ///
    /// ```swift
    /// let change = try await store.takeDown(ItemKey(kind: "user", id: "jane"), reason: "request of the user")
    /// if !change.wasStored { print("there was no such item") }
    /// ```
    ///
    /// - Parameters:
    ///   - moment: milliseconds since 1970-01-01 UTC.
    ///   - refuse: receives the stored item, or nil, and throws to prevent the takedown. It runs in the transaction of the takedown, so the
    ///     item cannot change in between.
    /// - Throws: the error of `refuse`; `StoreError.unavailable`.
    public func takeDown(
        _ key: ItemKey, reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        unless refuse: @escaping @Sendable (FeedItem?) throws -> Void = { _ in }
    ) async throws -> TakedownChange {
        try await write { database in
            try refuse(SQLiteSnapshot(database: database).item(kind: key.kind, id: key.id))
            return try StoredItemTable(database.session).remove(Takedown(item: key, at: moment, reason: reason))
        }
    }

    /// Ends takedowns, and releases ads from the campaigns that they belong to, also from campaigns that are taken down. A campaign releases
    /// all ads that belong to it.
    ///
    /// An item that was taken down returns when a source or an operator stores it again.
    ///
    /// ```swift
    /// let count = try await store.release([ItemKey(kind: "user", id: "jane")])  // 1
    /// ```
    ///
    /// - Returns: the number of items that were taken down, or belonged to a campaign.
    /// - Throws: `StoreError.unavailable`
    public func release(_ keys: [ItemKey]) async throws -> Int {
        try await write { try TakedownTable($0.session).release(keys) }
    }

    /// Returns the takedown of an item, or nil.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0.session).takedown(of: key) }
    }

    /// Returns the URLs that were in the fields of items that are taken down.
    package func takenDownURLs() async throws -> [String] {
        try await reading(for: .background) { try TakedownTable($0.session).urls(limit: ItemLinks.takedownLimit) }
    }

    package func takedownVersion() async throws -> TakedownVersion {
        try await reading(for: .background) { try TakedownTable($0.session).version() }
    }

    /// Returns at most `limit` takedowns in order of kind and id, after a key.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedowns(after key: ItemKey? = nil, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { try TakedownTable($0.session).list(after: key, limit: limit) }
    }

    package func remember(_ memberships: [CampaignMembership]) async throws {
        try await write { try TakedownTable($0.session).remember(memberships) }
    }

    package func isReleasable(_ key: ItemKey) async throws -> Bool {
        try await reading(for: .background) { try TakedownTable($0.session).isReleasable(key) }
    }
}
