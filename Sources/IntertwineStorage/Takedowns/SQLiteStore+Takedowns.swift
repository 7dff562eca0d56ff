import GRDB
package import IntertwineFeed

extension SQLiteStore {
    /// It runs in the transaction of the takedown, so the item cannot change in between.
    package func takeDown(
        _ key: ItemKey, reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        unless refuse: @escaping @Sendable (FeedItem?) throws -> Void = { _ in }
    ) async throws -> Bool {
        try await write { database in
            try refuse(SQLiteSnapshot(database: database).item(kind: key.kind, id: key.id))
            let items = try StoredItemTable(database.session)
            try items.takeDown(Takedown(item: key, at: moment, reason: reason))
            return try items.delete(key)
        }
    }

    package func release(_ keys: [ItemKey]) async throws -> Int {
        try await write { try TakedownTable($0.session).release(keys) }
    }

    package func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0.session).takedown(of: key) }
    }

    package func takenDownURLs() async throws -> [String] {
        try await reading(for: .background) { try TakedownTable($0.session).urls(limit: ItemLinks.takedownLimit) }
    }

    package func takedownVersion() async throws -> TakedownVersion {
        try await reading(for: .background) { try TakedownTable($0.session).version() }
    }

    package func takedowns(after key: ItemKey? = nil, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { try TakedownTable($0.session).list(after: key, limit: limit) }
    }

    package func remember(_ memberships: [CampaignMembership]) async throws {
        try await write { try TakedownTable($0.session).remember(memberships) }
    }

    package func isReleasable(_ key: ItemKey) async throws -> Bool {
        try await reading(for: .background) { try TakedownTable($0.session).isReleasable(key) }
    }
}
