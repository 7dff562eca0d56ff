/// An item that was replaced where it stands: it kept kind, id, variant and place, in a lane of content.
public struct ReplacedItem: Sendable, Hashable {
    public var kind: String
    public var lane: Lane
    public var position: Int64

    public init(kind: String, lane: Lane, position: Int64) {
        (self.kind, self.lane, self.position) = (kind, lane, position)
    }
}

/// What of a store's content a page was read from: an item beyond that can be replaced where it stands, and the page stays what it is.
///
/// Nothing is said of items that come, go or move, nor of advertisements.
public struct PageExtent: Sendable {
    /// From the first position of a lane that was read to the last.
    private var stretches: [(lane: Lane, positions: ClosedRange<Int64>)] = []
    /// Of which items were looked for otherwise.
    private var kinds: Set<String> = []

    /// Of nothing.
    public init() {}

    /// Whether the page may be another one with it.
    public func meets(_ item: ReplacedItem) -> Bool {
        stretches.contains { $0.lane == item.lane && $0.positions.contains(item.position) } || kinds.contains(item.kind)
    }

    fileprivate mutating func add(_ positions: ClosedRange<Int64>, of lane: Lane) {
        guard let index = stretches.firstIndex(where: { $0.lane == lane }) else { return stretches.append((lane, positions)) }
        let known = stretches[index].positions
        stretches[index].positions = min(known.lowerBound, positions.lowerBound)...max(known.upperBound, positions.upperBound)
    }

    fileprivate mutating func add(_ kind: String) { kinds.insert(kind) }
}

/// Reads another snapshot, and notes what of it.
final class ExtentRecorder: FeedSnapshot {
    private let snapshot: any FeedSnapshot
    private(set) var extent = PageExtent()

    init(_ snapshot: any FeedSnapshot) {
        self.snapshot = snapshot
    }

    func announce(_ reads: [LaneRead], isAll: Bool) { snapshot.announce(reads, isAll: isAll) }

    func visit(
        _ lane: Lane, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        var (least, greatest) = (Int64.max, Int64.min)
        defer { if least <= greatest { extent.add(least...greatest, of: lane) } }
        try snapshot.visit(lane, direction, of: position, limit: limit) { row in
            (least, greatest) = (min(least, row.position), max(greatest, row.position))
            try body(row)
        }
    }

    func visit(
        _ form: ItemForm, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        extent.add(form.kind)
        try snapshot.visit(form, direction, of: position, limit: limit, body)
    }

    /// With another value in its field an item stands elsewhere.
    func visit(
        _ lane: Lane, by field: SortField, _ direction: PageDirection, of place: ItemPlace?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        extent.add(.min ... .max, of: lane)
        try snapshot.visit(lane, by: field, direction, of: place, limit: limit, body)
    }

    func items(in lane: Lane, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        let items = try snapshot.items(in: lane, direction, of: position, limit: limit)
        let positions = items.lazy.map(\.position)
        if let least = positions.min(), let greatest = positions.max() { extent.add(least...greatest, of: lane) }
        return items
    }

    func items(of form: ItemForm, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        extent.add(form.kind)
        return try snapshot.items(of: form, direction, of: position, limit: limit)
    }

    func items(
        in lane: Lane, by field: SortField, _ direction: PageDirection, of place: ItemPlace?, limit: Int
    ) throws -> [FeedItem] {
        extent.add(.min ... .max, of: lane)
        return try snapshot.items(in: lane, by: field, direction, of: place, limit: limit)
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        extent.add(kind)
        return try snapshot.item(kind: kind, id: id)
    }

    func place(at index: Int, in lane: Lane, by field: SortField?) throws -> ItemPlace? {
        if field != nil { extent.add(.min ... .max, of: lane) }
        return try snapshot.place(at: index, in: lane, by: field)
    }

    // None of these depends on what stands in an item that stays where it is.

    func count(in lane: Lane) throws -> Int { try snapshot.count(in: lane) }

    func listings(in lane: Lane, between positions: Range<Int64>, limit: Int) throws -> [AdListing] {
        try snapshot.listings(in: lane, between: positions, limit: limit)
    }

    func takenDown(kind: String, limit: Int) throws -> [TakenDownItem] { try snapshot.takenDown(kind: kind, limit: limit) }

    func memberships() throws -> [CampaignMembership] { try snapshot.memberships() }

    func counts() throws -> [ItemForm: Int] { try snapshot.counts() }
}
