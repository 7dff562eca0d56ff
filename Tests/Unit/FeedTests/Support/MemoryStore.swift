import Synchronization

@testable import IntertwineFeed

/// An in-memory store with the behaviour of a store on disk: snapshots, and a version that changes with every write.
final class MemoryStore: FeedStore {
    struct Snapshot: StoreSnapshot {
        /// The items of each lane, ordered by position.
        var lanes: [StreamID: [FeedItem]] = [.content: [], .advertisements: []]
        /// The listings of each lane, ordered by position.
        var listings: [StreamID: [PinnedAd]] = [:]
        let looks = Looks()

        func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
            looks.add()
            let items =
                switch query.rows {
                case .stream(let lane): lanes[lane] ?? []
                case .type(let type): lanes.values.joined().filter { $0.type == type }.sorted { $0.position < $1.position }
                case .sorted(let lane, let field):
                    try (lanes[lane] ?? []).map { item in
                        var item = item
                        item.sortKey = .text(Array(try ItemFields(item.body).text(field.name, limit: 64)))
                        return item
                    }.sorted { $0.sortPosition < $1.sortPosition }
                }
            let found =
                switch query.direction {
                case .forward: items.filter { item in query.anchor.map { item.sortPosition > $0 } ?? true }
                case .backward: Array(items.filter { item in query.anchor.map { item.sortPosition < $0 } ?? true }.reversed())
                }
            for item in found.prefix(query.limit) { try item.withRow(body) }
        }

        func listings(in lane: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
            Array((listings[lane] ?? []).filter { positions.contains($0.position) }.prefix(limit))
        }

        func item(kind: String, id: String) throws -> FeedItem? {
            lanes.values.joined().first { $0.kind == kind && $0.id.utf8.elementsEqual(id.utf8) }
        }

        func counts() throws -> [ItemType: Int] {
            lanes.values.joined().reduce(into: [:]) { $0[ItemType(kind: $1.kind, variant: $1.variant), default: 0] += 1 }
        }
    }

    /// Counts the ranges that are read.
    final class Looks: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func add() { number.withLock { $0 += 1 } }
    }

    var looks: Int { state.withLock { $0.snapshot.looks.count } }

    private struct State {
        var snapshot = Snapshot()
        var writes: UInt64 = 0
    }

    private let state = Mutex(State())

    var version: StoreVersion { state.withLock { StoreVersion(high: 1, low: $0.writes) } }

    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) async throws -> Value {
        try body(state.withLock { $0.snapshot })
    }

    /// Inserts an item at its position, or replaces the item of its kind and id, which retains its position.
    func put(_ item: FeedItem, in lane: StreamID = .content) {
        state.withLock { state in
            state.writes += 1
            var items = state.snapshot.lanes[lane] ?? []
            if let index = items.firstIndex(where: { $0.kind == item.kind && $0.id.utf8.elementsEqual(item.id.utf8) }) {
                var item = item
                item.position = items[index].position
                items[index] = item
            } else {
                items.insert(item, at: items.firstIndex { $0.position > item.position } ?? items.endIndex)
            }
            state.snapshot.lanes[lane] = items
        }
    }

    func list(_ item: FeedItem, behind position: Int64, in lane: StreamID = .content) {
        state.withLock { state in
            state.writes += 1
            let place = state.snapshot.listings[lane, default: []].firstIndex { $0.position > position }
            let end = state.snapshot.listings[lane]?.endIndex ?? 0
            state.snapshot.listings[lane, default: []].insert(PinnedAd(position: position, item: item), at: place ?? end)
        }
    }

    func delete(kind: String, id: String) {
        state.withLock { state in
            state.writes += 1
            for lane in state.snapshot.lanes.keys {
                state.snapshot.lanes[lane]?.removeAll { $0.kind == kind && $0.id.utf8.elementsEqual(id.utf8) }
            }
        }
    }
}
