package import IntertwineFeed
internal import IntertwinePrimitives

package protocol ItemStore: FeedStore {
    func put(
        _ item: ValidatedItem, releasing: Bool, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> ItemChange

    func remove(kind: String, id: String) async throws -> Bool

    func apply(
        _ operations: [StoreOperation], reason: String?, at moment: Int64, releasing: Bool,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void
    ) async throws -> StoreOperationSummary

    /// Replaces the items that exist by the results of `patch`, in one transaction. If a key occurs twice, the second patch gets the first result.
    func patch(
        _ keys: [ItemKey], by patch: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> ValidatedItem
    ) async throws -> ItemPatchSummary

    func takeDown(
        _ key: ItemKey, reason: String?, at moment: Int64, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> TakedownChange

    func release(_ keys: [ItemKey]) async throws -> Int

    func takedown(of key: ItemKey) async throws -> Takedown?

    func takedowns(after key: ItemKey?, limit: Int) async throws -> [Takedown]

    /// Creates the index of ``items(_:)`` unless it exists, and brings up to `limit` of its entries up to date. Returns their number.
    func updateIndex(limit: Int) async throws -> Int

    /// Returns items of the index, which must exist. `isComplete` is false while changed items have entries that are out of date.
    func items(_ query: ItemListQuery) async throws -> (items: [ListedItem], sections: [String], isComplete: Bool)

    func revisions(of key: ItemKey) async throws -> [ItemRevision]

    func takenDownURLs() async throws -> [String]

    func takedownVersion() async throws -> TakedownVersion

    /// Shows and hides the items whose times the database's clock has reached, in one transaction, of whichever process is first.
    func settle() async throws -> ScheduleState

    /// Stores the counts of items, as members of a JSON object without its braces. An item without counts has an empty text.
    func setCounts(_ counts: [(key: ItemKey, text: String)]) async throws

    func hiddenItems() async throws -> HiddenItems

    func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID]

    func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void) throws(StoreError) -> [String: StreamID]

    var readStatistics: ReadStatistics { get }

    /// Call it periodically, by one caller at a time; it blocks.
    func storageChange() -> FileChange?

    /// Completes the files when the process ends, so that a copy of them contains all data.
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

package struct ItemPatchSummary: Sendable, Hashable {
    package var updated = 0
    package var unchanged = 0
    package var unknown = 0

    /// The number of items that are read and written at once.
    static let batch = 2_000
}

package enum FileChange: Sendable, Hashable {
    case gone(String)
    case damaged(String)
    case back(String)
}

package enum ItemChange: Sendable, Hashable {
    case added
    case replaced
    case withheld
}
