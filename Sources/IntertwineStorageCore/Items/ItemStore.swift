package import IntertwineFeed
internal import IntertwinePrimitives

/// A store whose items can be changed by operators and by the process itself. Each change is durable when it returns.
///
/// All stores have the behaviour that `SQLiteStore` documents.
package protocol ItemStore: FeedStore, CampaignMembershipStore {
    func put(
        _ item: ValidatedItem, releasing: Bool, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> ItemChange

    func remove(kind: String, id: String) async throws -> Bool

    func apply(
        _ operations: [StoreOperation], reason: String?, at moment: Int64, releasing: Bool,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void
    ) async throws -> StoreOperationSummary

    func takeDown(
        _ key: ItemKey, reason: String?, at moment: Int64, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> TakedownChange

    func release(_ keys: [ItemKey]) async throws -> Int

    /// Returns true if an item is taken down, belongs to a campaign, or is a campaign with ads.
    func isReleasable(_ key: ItemKey) async throws -> Bool

    func takedown(of key: ItemKey) async throws -> Takedown?

    func takedowns(after key: ItemKey?, limit: Int) async throws -> [Takedown]

    /// Returns the URLs that were in the fields of items that are taken down, unchanged. The number of takedowns that are read is limited.
    func takenDownURLs() async throws -> [String]

    /// Returns a version that changes with each takedown.
    func takedownVersion() async throws -> TakedownVersion

    func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID]

    func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void) throws(StoreError) -> [String: StreamID]

    var readStatistics: ReadStatistics { get }

    /// Checks whether the opened storage is still there and sound. Call it periodically, by one caller at a time; it blocks.
    ///
    /// - Returns: the change since the last call.
    func storageChange() -> FileChange?

    /// Completes the files when the process ends, so that a copy of them contains all data.
    ///
    /// - Throws: `StoreError.unavailable` if another process prevents it.
    func completeFile() async throws
}

extension ItemStore {
    package func put(_ item: ValidatedItem) async throws -> ItemChange {
        try await put(item, releasing: true) { _ in }
    }

    package func apply(
        _ operations: [StoreOperation], unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        try await apply(operations, reason: nil, at: WallClock.now(), releasing: true, unless: refuse)
    }

    package func apply(
        _ operations: [StoreOperation], reason: String? = nil, at moment: Int64
    ) async throws -> StoreOperationSummary {
        try await apply(operations, reason: reason, at: moment, releasing: true) { _, _ in }
    }

    package func takeDown(_ key: ItemKey, reason: String? = nil, at moment: Int64 = WallClock.now()) async throws -> TakedownChange {
        try await takeDown(key, reason: reason, at: moment) { _ in }
    }

    package func arrange(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        try arrange(sections) {}
    }
}

/// A change of a database file that the process has open.
package enum FileChange: Sendable, Hashable {
    /// The file is missing or was replaced, and writes stop. The value is one line for operators.
    case gone(String)
    /// The file is damaged, and writes stop. The value is one line for operators.
    case damaged(String)
    /// The file is available again. The value is one line for operators.
    case back(String)
}

/// The result of storing an item.
///
/// ```swift
/// switch try await store.put(item) {
/// case .added, .replaced: print("stored")
/// case .withheld: print("taken down")
/// }
/// ```
public enum ItemChange: Sendable, Hashable {
    /// The item was added at the end of its stream.
    case added
    /// The item replaced the item of equal kind and id, in its position.
    case replaced
    /// No change: the item is taken down and has not been released.
    case withheld
}
