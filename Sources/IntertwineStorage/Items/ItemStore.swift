package import IntertwineFeed

/// A store whose items can be changed from here: by operators, and by what the process itself does. Each change is on disk when it returns.
///
/// What is promised is the same for all stores; ``SQLiteStore`` says it.
package protocol ItemStore: FeedStore {
    func put(_ item: ValidItem, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void) async throws -> ItemChange

    func remove(kind: String, id: String) async throws -> Bool

    func apply(
        _ operations: [StoreOperation], reason: String?, at moment: Int64,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void
    ) async throws -> StoreOperationSummary

    func takeDown(
        _ key: ItemKey, reason: String?, at moment: Int64, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> Bool

    func release(_ keys: [ItemKey]) async throws -> Int

    func takedown(of key: ItemKey) async throws -> Takedown?

    func takedowns(after key: ItemKey?, limit: Int) async throws -> [Takedown]

    func lanes(_ sections: [SectionPlan]) throws(StoreError) -> [String: Lane]

    func arrange(_ sections: [SectionPlan], willWrite: () -> Void) throws(StoreError) -> [String: Lane]

    var readStatistics: ReadStatistics { get }
}

extension ItemStore {
    package func put(_ item: ValidItem) async throws -> ItemChange {
        try await put(item) { _ in }
    }

    package func apply(
        _ operations: [StoreOperation], unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        try await apply(operations, reason: nil, at: SQLiteLedger.systemTime(), unless: refuse)
    }

    package func arrange(_ sections: [SectionPlan]) throws(StoreError) -> [String: Lane] {
        try arrange(sections) {}
    }
}

extension SQLiteStore: ItemStore {}
