/// One lane of the store, without sections: no headers, and nothing that pages would tell of sections.
public struct FlatDataSource: DataSource {
    private let reading: LaneReading

    public init(_ lane: Lane = .content, order: SectionOrder = .imported) {
        reading = LaneReading(lane: lane, order: order)
    }

    public let sectionCount = 1

    public func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int {
        try snapshot.count(in: reading.lane)
    }

    public func items(
        in section: Int, _ direction: PageDirection, of place: ItemPlace?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem] {
        try reading.items(direction, of: place, limit: limit, from: snapshot)
    }

    public func visit(
        _ section: Int, _ direction: PageDirection, of place: ItemPlace?, limit: Int, from snapshot: any FeedSnapshot,
        _ body: (ItemRow) throws -> Void
    ) throws {
        try reading.visit(direction, of: place, limit: limit, from: snapshot, body)
    }

    public func isDescending(_ section: Int) -> Bool { reading.order.isDescending }

    public func place(at index: Int, in section: Int, of snapshot: any FeedSnapshot) throws -> ItemPlace? {
        try reading.place(at: index, of: snapshot)
    }

    public var scope: String { reading.order == .imported ? "" : reading.order.text }
}
