internal import Foundation
package import IntertwineFeed

/// A store whose items can be changed from here: by operators, and by what the process itself does. Each change is on disk when it returns.
///
/// What is promised is the same for all stores; ``SQLiteStore`` says it.
package protocol ItemStore: FeedStore, CampaignMembershipStore {
    func put(_ item: ValidatedItem, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void) async throws -> ItemChange

    func remove(kind: String, id: String) async throws -> Bool

    func apply(
        _ operations: [StoreOperation], reason: String?, at moment: Int64,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void
    ) async throws -> StoreOperationSummary

    func takeDown(
        _ key: ItemKey, reason: String?, at moment: Int64, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> Bool

    func release(_ keys: [ItemKey]) async throws -> Int

    /// Whether an item is taken down or belongs to a campaign, or is a campaign to which advertisements belong.
    func isReleasable(_ key: ItemKey) async throws -> Bool

    func takedown(of key: ItemKey) async throws -> Takedown?

    func takedowns(after key: ItemKey?, limit: Int) async throws -> [Takedown]

    /// URLs that stood in the fields of items that are taken down, as they were written there. No more than a bounded number of takedowns is asked.
    func takenDownURLs() async throws -> [String]

    /// Another one after each takedown.
    func takedownVersion() async throws -> TakedownVersion

    func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID]

    func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void) throws(StoreError) -> [String: StreamID]

    var readStatistics: ReadStatistics { get }

    /// Looks whether what the store was opened as is still there. To be called now and then, by one caller at a time; it blocks.
    ///
    /// - Returns: what has changed since the last look.
    func checkForReplacement() -> FileChange?

    /// At the end: leaves it as whoever copies it finds everything.
    ///
    /// - Throws: `StoreError.unavailable` where another process is in the way.
    func completeFile() async throws
}

extension ItemStore {
    /// Takedowns whose URLs are looked at.
    package static var takenDownLimit: Int { 100_000 }

    /// What the fields of one that is taken down led to, as its takedown keeps it.
    package static func leads(ofTakedown list: String) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(list.utf8))) ?? []
    }

    /// The URLs of them.
    package static func urls(ofTakedown list: String) -> [String] {
        leads(ofTakedown: list).filter { !$0.hasPrefix(BlockedItem.creative) }
    }

    package func put(_ item: ValidatedItem) async throws -> ItemChange {
        try await put(item) { _ in }
    }

    package func apply(
        _ operations: [StoreOperation], unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        try await apply(operations, reason: nil, at: SQLiteLedger.systemTime(), unless: refuse)
    }

    package func apply(
        _ operations: [StoreOperation], reason: String? = nil, at moment: Int64
    ) async throws -> StoreOperationSummary {
        try await apply(operations, reason: reason, at: moment) { _, _ in }
    }

    package func takeDown(_ key: ItemKey, reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime()) async throws -> Bool {
        try await takeDown(key, reason: reason, at: moment) { _ in }
    }

    package func arrange(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        try arrange(sections) {}
    }
}

extension SQLiteStore: ItemStore {}
