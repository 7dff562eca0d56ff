import GRDB
public import IntertwineFeed

extension SQLiteStore {
    /// Removes an item and keeps it out of the store until it is released; see ``Takedown``. An item that is not stored can be taken down too.
    ///
    /// - Parameters:
    ///   - moment: milliseconds since 1970-01-01 UTC.
    ///   - refuse: receives the stored item, or nil, and throws to prevent the takedown. It runs in the transaction of the takedown, so the
    ///     item cannot change in between.
    /// - Returns: true if the item was stored.
    /// - Throws: the error of `refuse`; `StoreError.unavailable`.
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

    /// Ends takedowns, and releases ads from the campaigns that they belong to, also from campaigns that are taken down. A campaign releases
    /// all ads that belong to it.
    ///
    /// An item that was taken down returns when a source or an operator stores it again.
    ///
    /// - Returns: the number of items that were taken down, or belonged to a campaign.
    /// - Throws: `StoreError.unavailable`
    public func release(_ keys: [ItemKey]) async throws -> Int {
        try await write { database in
            let takedowns = try TakedownTable(database)
            let memberships = try MembershipTable(database)
            return try keys.count { key in
                let hadMemberships = try memberships.remove(key)
                let hadCampaigns = try takedowns.release(key)
                return try takedowns.remove(key) || hadMemberships || hadCampaigns
            }
        }
    }

    /// Returns the takedown of an item, or nil.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0).takedown(of: key) }
    }

    /// Returns the URLs that were in the fields of items that are taken down.
    package func takenDownURLs() async throws -> [String] {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(database, "SELECT urls FROM takedown WHERE kind >= '' AND urls IS NOT NULL LIMIT ?1")
            defer { statement.reset() }
            try statement.bind(1, Int64(Self.takenDownLimit))
            var urls: [String] = []
            while try statement.step() { urls += Self.urls(ofTakedown: statement.text(0)) }
            return urls
        }
    }

    package func takedownVersion() async throws -> TakedownVersion {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(database, "SELECT count(*), max(at) FROM takedown WHERE kind >= ''")
            defer { statement.reset() }
            return try statement.step()
                ? TakedownVersion(count: statement.integer(0), last: statement.integer(1)) : TakedownVersion(count: 0, last: 0)
        }
    }

    /// Returns at most `limit` takedowns in order of kind and id, after a key.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedowns(after key: ItemKey? = nil, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(
                database,
                "SELECT kind, id, at, reason FROM takedown WHERE (kind, id) > (?1, ?2) ORDER BY kind, id LIMIT ?3")
            defer { statement.reset() }
            try statement.bind(1, kind: key?.kind ?? "")
            try statement.bind(2, key?.id ?? "")
            try statement.bind(3, Int64(max(limit, 0)))
            var takedowns: [Takedown] = []
            while try statement.step() {
                takedowns.append(
                    Takedown(
                        item: ItemKey(kind: statement.kind(0), id: statement.text(1)), at: statement.integer(2),
                        reason: statement.optionalText(3)))
            }
            return takedowns
        }
    }
}
