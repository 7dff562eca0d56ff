// article: StoreOfYourOwn
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

/// Serves a store in memory, and keeps events and lists in a file.
func extensions(store: MemoryStore, ledger file: String) throws -> ServiceExtensions {
    var extensions = cards
    extensions.store = store
    extensions.ledger = try SQLiteLedger(path: file)
    return extensions
}
// article: end
