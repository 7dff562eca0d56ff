/// An update of an item that kept its kind, id, variant and position, in a stream of content.
package struct InPlaceUpdate: Sendable, Hashable {
    package var kind: String
    package var stream: StreamID
    package var position: Int64

    package init(kind: String, stream: StreamID, position: Int64) {
        (self.kind, self.stream, self.position) = (kind, stream, position)
    }
}

package struct PageDependencies: Sendable {
    private var ranges: [(stream: StreamID, positions: ClosedRange<Int64>)] = []
    private var kinds: Set<String> = []

    package init() {}

    package func includes(_ item: InPlaceUpdate) -> Bool {
        ranges.contains { $0.stream == item.stream && $0.positions.contains(item.position) } || kinds.contains(item.kind)
    }

    fileprivate mutating func add(_ positions: ClosedRange<Int64>, of stream: StreamID) {
        guard let index = ranges.firstIndex(where: { $0.stream == stream }) else { return ranges.append((stream, positions)) }
        let known = ranges[index].positions
        ranges[index].positions = min(known.lowerBound, positions.lowerBound)...max(known.upperBound, positions.upperBound)
    }

    fileprivate mutating func add(_ kind: String) { kinds.insert(kind) }
}

final class DependencyTrackingSnapshot: StoreSnapshot {
    private let snapshot: any StoreSnapshot
    private(set) var dependencies = PageDependencies()
    /// The first time at which an item of the page expires, in milliseconds since 1970-01-01 UTC.
    private(set) var expiry = Int64.max

    init(_ snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
    }

    func prefetch(_ queries: [RowQuery], isComplete: Bool) { snapshot.prefetch(queries, isComplete: isComplete) }

    func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        switch query.rows {
        case .type(let type):
            dependencies.add(type.kind)
            try snapshot.visit(query) {
                note($0.body)
                try body($0)
            }
        case .sorted(let stream, _):
            // The whole stream is recorded, since an update of the field moves an item.
            dependencies.add(.min ... .max, of: stream)
            try snapshot.visit(query) {
                note($0.body)
                try body($0)
            }
        case .stream(let stream) where query.filter != nil:
            // An update of the field may add an item anywhere.
            dependencies.add(.min ... .max, of: stream)
            try snapshot.visit(query) {
                note($0.body)
                try body($0)
            }
        case .stream(let stream):
            var (least, greatest) = (Int64.max, Int64.min)
            defer { if least <= greatest { dependencies.add(least...greatest, of: stream) } }
            try snapshot.visit(query) { row in
                (least, greatest) = (min(least, row.position), max(greatest, row.position))
                note(row.body)
                try body(row)
            }
        }
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        dependencies.add(kind)
        let item = try snapshot.item(kind: kind, id: id)
        if let item { note(item.body) }
        return item
    }

    private func note(_ body: some Collection<UInt8>) {
        if let end = ItemSchedule(body: body)?.expireAt { expiry = min(expiry, end) }
    }

    // The results of the following methods do not depend on the content of an item that stays at its position.

    func count(in stream: StreamID) throws -> Int { try snapshot.count(in: stream) }

    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        let listed = try snapshot.listings(in: stream, between: positions, limit: limit)
        for ad in listed { note(ad.item.body) }
        return listed
    }

    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { try snapshot.blockedItems(kind: kind, limit: limit) }

    func counts() throws -> [ItemType: Int] { try snapshot.counts() }
}
