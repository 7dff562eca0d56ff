/// A data source with one stream of the store, without sections and headers.
///
/// ```swift
/// let source = FlatDataSource(.content, order: .newest)
/// ```
public struct FlatDataSource: DataSource {
    private let reading: OrderedReading

    public init(_ stream: StreamID = .content, order: SectionSort = .imported) {
        reading = OrderedReading(stream: stream, order: order)
    }

    public let sectionCount = 1

    public func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int {
        try snapshot.count(in: reading.stream)
    }

    public func items(
        in section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem] {
        try reading.items(direction, of: place, limit: limit, from: snapshot)
    }

    public func visit(
        _ section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot,
        _ body: (ItemRow) throws -> Void
    ) throws {
        try reading.visit(direction, of: place, limit: limit, from: snapshot, body)
    }

    public func isDescending(_ section: Int) -> Bool { reading.order.isDescending }

    public func dependsOnPositionsAlone(_ section: Int) -> Bool { reading.order.field == nil }

    public func sortPosition(at index: Int, in section: Int, of snapshot: any FeedSnapshot) throws -> SortPosition? {
        try reading.sortPosition(at: index, of: snapshot)
    }

    public func listings(
        in section: Int, between positions: Range<Int64>, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [PinnedAd] {
        try reading.listings(between: positions, limit: limit, from: snapshot)
    }

    public var scope: String { reading.order == .imported ? "" : reading.order.text }
}

/// A stream of the store with a sort order.
struct OrderedReading: Sendable {
    let stream: StreamID
    let order: SectionSort

    func items(
        _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem] {
        let direction = order.isDescending ? direction.reversed : direction
        guard let field = order.field else { return try snapshot.items(in: stream, direction, of: place?.position, limit: limit) }
        return try snapshot.items(in: stream, by: field, direction, of: place, limit: limit)
    }

    func visit(
        _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void
    ) throws {
        let direction = order.isDescending ? direction.reversed : direction
        guard let field = order.field else { return try snapshot.visit(stream, direction, of: place?.position, limit: limit, body) }
        try snapshot.visit(stream, by: field, direction, of: place, limit: limit, body)
    }

    /// Returns pinned advertisements; none if a field orders the stream, because pinned positions refer to the import order.
    func listings(between positions: Range<Int64>, limit: Int, from snapshot: any FeedSnapshot) throws -> [PinnedAd] {
        order.field == nil ? try snapshot.listings(in: stream, between: positions, limit: limit) : []
    }

    /// - Parameter index: The index from the section's start.
    func sortPosition(at index: Int, of snapshot: any FeedSnapshot) throws -> SortPosition? {
        guard order.isDescending else { return try snapshot.sortPosition(at: index, in: stream, by: order.field) }
        return try snapshot.sortPosition(at: snapshot.count(in: stream) - 1 - index, in: stream, by: order.field)
    }
}

extension PageDirection {
    var reversed: PageDirection {
        switch self {
        case .forward: .backward
        case .backward: .forward
        }
    }
}
