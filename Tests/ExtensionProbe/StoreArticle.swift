// article: StoreOfYourOwn
import IntertwineLedger
import IntertwineService
import Synchronization

/// A store of content in memory.
final class MemoryStore: FeedStore {
    private let state = Mutex((version: UInt64(0), items: [FeedItem]()))

    var version: StoreVersion { StoreVersion(high: 0, low: state.withLock { $0.version }) }

    /// Replaces the items. Their positions determine their order.
    func replace(_ items: [FeedItem]) {
        state.withLock { $0 = ($0.version + 1, items.sorted { $0.position < $1.position }) }
    }

    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) async throws -> Value {
        try body(Snapshot(content: state.withLock { $0.items }))
    }

    private struct Snapshot: FeedSnapshot {
        let content: [FeedItem]

        func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
            let items = content.filter { item in
                let isSelected =
                    switch query.rows {
                    case .stream(let stream): stream == .content
                    case .type(let type): type == item.type
                    case .sorted: false
                    }
                guard isSelected, let anchor = query.anchor?.position else { return isSelected }
                return query.direction == .forward ? item.position > anchor : item.position < anchor
            }
            for item in (query.direction == .forward ? items : items.reversed()).prefix(query.limit) { try item.withRow(body) }
        }

        func item(kind: String, id: String) throws -> FeedItem? { content.first { $0.kind == kind && $0.id == id } }
    }
}

/// Counts the entries that another ledger commits.
final class CountingLedger: Ledger {
    private let base: any Ledger
    private let commits = Atomic(0)

    init(_ base: any Ledger) { self.base = base }

    var count: Int { commits.load(ordering: .relaxed) }

    func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        let receipt = try await base.commit(entry)
        commits.add(1, ordering: .relaxed)
        return receipt
    }

    func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? { try await base.replay(of: key) }
    func selection(id: String) async throws -> CommandRecord? { try await base.selection(id: id) }

    func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry] {
        try await base.cells(on: list, of: viewer, after: mark, limit: limit)
    }

    func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry] {
        try await base.cells(on: list, of: viewer, before: mark, limit: limit)
    }

    func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await base.contains(cell, on: list, of: viewer)
    }

    func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
        try base.withCells(on: lists, of: viewer, body)
    }
}

/// Serves a store in memory, and keeps events and lists in a ledger.
func extensions(store: MemoryStore, ledger: any Ledger) -> ServiceExtensions {
    var extensions = cards
    extensions.store = store
    extensions.ledger = ledger
    return extensions
}
// article: end
