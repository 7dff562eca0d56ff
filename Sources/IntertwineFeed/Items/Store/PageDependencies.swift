/// An update of an item that kept its kind, id, variant and position, in a stream of content.
package struct InPlaceUpdate: Sendable, Hashable {
    /// The kind of the item.
    package var kind: String
    /// The stream of the item.
    package var stream: StreamID
    /// The position of the item in its stream.
    package var position: Int64

    /// Creates the update of an item at a position of a stream.
    package init(kind: String, stream: StreamID, position: Int64) {
        (self.kind, self.stream, self.position) = (kind, stream, position)
    }
}

/// The part of a store's content that a page was read from. An in-place update outside this part does not change the page.
///
/// Inserted, deleted and moved items, and advertisements, are not covered.
package struct PageDependencies: Sendable {
    /// The range of positions that was read from each stream.
    private var ranges: [(stream: StreamID, positions: ClosedRange<Int64>)] = []
    /// The kinds of items that were read in another way.
    private var kinds: Set<String> = []

    /// Creates empty dependencies.
    package init() {}

    /// Returns true if the update may change the page.
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

/// A snapshot that forwards to another snapshot and records the dependencies.
final class DependencyTrackingSnapshot: StoreSnapshot {
    private let snapshot: any StoreSnapshot
    private(set) var dependencies = PageDependencies()

    init(_ snapshot: any StoreSnapshot) {
        self.snapshot = snapshot
    }

    func prefetch(_ queries: [RowQuery], isComplete: Bool) { snapshot.prefetch(queries, isComplete: isComplete) }

    func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        switch query.rows {
        case .type(let type):
            dependencies.add(type.kind)
            try snapshot.visit(query, body)
        case .sorted(let stream, _):
            // The whole stream is recorded, since an update of the field moves an item.
            dependencies.add(.min ... .max, of: stream)
            try snapshot.visit(query, body)
        case .stream(let stream):
            var (least, greatest) = (Int64.max, Int64.min)
            defer { if least <= greatest { dependencies.add(least...greatest, of: stream) } }
            try snapshot.visit(query) { row in
                (least, greatest) = (min(least, row.position), max(greatest, row.position))
                try body(row)
            }
        }
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        dependencies.add(kind)
        return try snapshot.item(kind: kind, id: id)
    }

    // The results of the following methods do not depend on the content of an item that stays at its position.

    func count(in stream: StreamID) throws -> Int { try snapshot.count(in: stream) }

    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        try snapshot.listings(in: stream, between: positions, limit: limit)
    }

    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { try snapshot.blockedItems(kind: kind, limit: limit) }

    func memberships() throws -> [CampaignMembership] { try snapshot.memberships() }

    func counts() throws -> [ItemType: Int] { try snapshot.counts() }
}
