/// An item that was replaced where it stands: it kept kind, id, variant and place, in a lane of content.
public struct InPlaceUpdate: Sendable, Hashable {
    public var kind: String
    public var stream: StreamID
    public var position: Int64

    public init(kind: String, stream: StreamID, position: Int64) {
        (self.kind, self.stream, self.position) = (kind, stream, position)
    }
}

/// What of a store's content a page was read from: an item beyond that can be replaced where it stands, and the page stays what it is.
///
/// Nothing is said of items that come, go or move, nor of advertisements.
public struct PageDependencies: Sendable {
    /// From the first position of a lane that was read to the last.
    private var ranges: [(lane: StreamID, positions: ClosedRange<Int64>)] = []
    /// Of which items were looked for otherwise.
    private var kinds: Set<String> = []

    /// Of nothing.
    public init() {}

    /// Whether the page may be another one with it.
    public func includes(_ item: InPlaceUpdate) -> Bool {
        ranges.contains { $0.lane == item.stream && $0.positions.contains(item.position) } || kinds.contains(item.kind)
    }

    fileprivate mutating func add(_ positions: ClosedRange<Int64>, of lane: StreamID) {
        guard let index = ranges.firstIndex(where: { $0.lane == lane }) else { return ranges.append((lane, positions)) }
        let known = ranges[index].positions
        ranges[index].positions = min(known.lowerBound, positions.lowerBound)...max(known.upperBound, positions.upperBound)
    }

    fileprivate mutating func add(_ kind: String) { kinds.insert(kind) }
}

/// Reads another snapshot, and notes what of it.
final class DependencyTrackingSnapshot: FeedSnapshot {
    private let snapshot: any FeedSnapshot
    private(set) var dependencies = PageDependencies()

    init(_ snapshot: any FeedSnapshot) {
        self.snapshot = snapshot
    }

    func prefetch(_ reads: [ReadRequest], isComplete: Bool) { snapshot.prefetch(reads, isComplete: isComplete) }

    func visit(
        _ lane: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        var (least, greatest) = (Int64.max, Int64.min)
        defer { if least <= greatest { dependencies.add(least...greatest, of: lane) } }
        try snapshot.visit(lane, direction, of: position, limit: limit) { row in
            (least, greatest) = (min(least, row.position), max(greatest, row.position))
            try body(row)
        }
    }

    func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        dependencies.add(form.kind)
        try snapshot.visit(form, direction, of: position, limit: limit, body)
    }

    /// With another value in its field an item stands elsewhere.
    func visit(
        _ lane: StreamID, by field: SortField, _ direction: PageDirection, of place: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws {
        dependencies.add(.min ... .max, of: lane)
        try snapshot.visit(lane, by: field, direction, of: place, limit: limit, body)
    }

    func items(in lane: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        let items = try snapshot.items(in: lane, direction, of: position, limit: limit)
        let positions = items.lazy.map(\.position)
        if let least = positions.min(), let greatest = positions.max() { dependencies.add(least...greatest, of: lane) }
        return items
    }

    func items(of form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        dependencies.add(form.kind)
        return try snapshot.items(of: form, direction, of: position, limit: limit)
    }

    func items(
        in lane: StreamID, by field: SortField, _ direction: PageDirection, of place: SortPosition?, limit: Int
    ) throws -> [FeedItem] {
        dependencies.add(.min ... .max, of: lane)
        return try snapshot.items(in: lane, by: field, direction, of: place, limit: limit)
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        dependencies.add(kind)
        return try snapshot.item(kind: kind, id: id)
    }

    func sortPosition(at index: Int, in lane: StreamID, by field: SortField?) throws -> SortPosition? {
        if field != nil { dependencies.add(.min ... .max, of: lane) }
        return try snapshot.sortPosition(at: index, in: lane, by: field)
    }

    // None of these depends on what stands in an item that stays where it is.

    func count(in lane: StreamID) throws -> Int { try snapshot.count(in: lane) }

    func listings(in lane: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        try snapshot.listings(in: lane, between: positions, limit: limit)
    }

    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { try snapshot.blockedItems(kind: kind, limit: limit) }

    func memberships() throws -> [CampaignMembership] { try snapshot.memberships() }

    func counts() throws -> [ItemType: Int] { try snapshot.counts() }
}
