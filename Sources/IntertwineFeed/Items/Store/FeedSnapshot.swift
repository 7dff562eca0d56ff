/// A consistent snapshot of the items at one moment; valid only while a ``DataSource`` visits its rows.
public protocol FeedSnapshot {
    /// Visits the rows of a query one after another, in its order. The cost must depend on the limit only, not on how far into the feed the
    /// anchor lies.
    ///
    /// ```swift
    /// var ids: [String] = []
    /// try snapshot.visit(RowQuery(.stream(.content), limit: 10)) { row in
    ///     ids.append(row.item.id)
    /// }
    /// ```
    ///
    /// - Parameter body: Called for each row; must not read from the snapshot.
    func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws

    /// Returns one item, or nil if the store has no item of that kind and id.
    ///
    /// ```swift
    /// let user = try snapshot.item(kind: "user", id: "tt")
    /// ```
    func item(kind: String, id: String) throws -> FeedItem?
}

package protocol StoreSnapshot: FeedSnapshot {
    var age: Duration? { get }

    /// Announces queries that will follow the next one, so that a remote store can answer all of them in one round trip.
    func prefetch(_ queries: [RowQuery], isComplete: Bool)

    /// Returns one item, whether it is public or not.
    func storedItem(kind: String, id: String) throws -> FeedItem?

    func count(in stream: StreamID) throws -> Int

    /// Visits the rows of a query whose author is in a set.
    func visit(_ query: RowQuery, of authors: AuthorSet, _ body: (ItemRow) throws -> Void) throws

    /// Returns the most frequent values of a field in a stream.
    func filterValues(_ filter: ItemFilter, among filters: [ItemFilter], in stream: StreamID, by order: SectionSort) throws -> [FilterValue]

    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd]

    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem]

    /// The cost may depend on the number of items, so it is for operators, not for requests.
    func counts() throws -> [ItemType: Int]
}

extension StoreSnapshot {
    /// The default: nil, because the snapshot has the newest data.
    package var age: Duration? { nil }

    package func prefetch(_ queries: [RowQuery], isComplete: Bool) {}
    /// Returns the public item, because a store without schedules has no other.
    package func storedItem(kind: String, id: String) throws -> FeedItem? { try item(kind: kind, id: id) }
    /// Returns no values, because a store without indices cannot count them.
    package func filterValues(
        _ filter: ItemFilter, among filters: [ItemFilter], in stream: StreamID, by order: SectionSort
    ) throws -> [FilterValue] { [] }
    /// Returns no advertisements, because a store without pinned advertisements has none.
    package func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] { [] }
    /// Returns no items, because a store without takedowns has none.
    package func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { [] }

    package func count(in stream: StreamID) throws -> Int {
        var count = 0
        try forEachRow(in: .stream(stream)) { _ in
            count += 1
            return true
        }
        return count
    }

    package func counts() throws -> [ItemType: Int] {
        var counts: [ItemType: Int] = [:]
        for stream in [StreamID.content, .advertisements] {
            try forEachRow(in: .stream(stream)) { row in
                counts[row.type, default: 0] += 1
                return true
            }
        }
        return counts
    }

    func forEachRow(in rows: RowQuery.Rows, _ body: (ItemRow) throws -> Bool) throws {
        var query = RowQuery(rows, limit: RowBatch.size)
        var batch: RowBatch
        repeat {
            batch = RowBatch()
            try visit(query) { row in
                if batch.take(row), try !body(row) { batch.stop() }
            }
            query.anchor = batch.last
        } while batch.continues
    }
}

extension FeedSnapshot {
    /// Returns the items of a query.
    ///
    /// ```swift
    /// let last = RowQuery(.stream(.content), .backward, limit: 3)
    /// let items = try snapshot.items(last)
    /// ```
    public func items(_ query: RowQuery) throws -> [FeedItem] {
        var items: [FeedItem] = []
        try visit(query) { items.append($0.item) }
        return items
    }

    /// Returns items of a stream in the order of their positions, next to a position, which is excluded.
    ///
    /// ```swift
    /// let first = try snapshot.items(in: .content, .forward, of: nil, limit: 20)
    /// let next = try snapshot.items(in: .content, .forward, of: first.last?.position, limit: 20)
    /// ```
    public func items(in stream: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem] {
        try items(RowQuery(.stream(stream), direction, of: position.map { SortPosition(position: $0) }, limit: limit))
    }
}

/// A query for consecutive items of a store.
public struct RowQuery: Sendable, Hashable {
    /// The items that a query selects, in an order.
    public enum Rows: Sendable, Hashable {
        /// The items of a stream in the order of their positions.
        case stream(StreamID)
        /// The items of a stream ordered by a field from least to greatest, then by position. The rows have their ``ItemRow/sortKey``.
        ///
        /// The cost depends on the limit only if the store has an index of the stream by the field.
        case sorted(StreamID, by: SortField)
        /// The items of one type in the order of their positions.
        ///
        /// The cost is equal among advertisements. Among content, items of other types in between add to it.
        case type(ItemType)
    }

    /// The items to select, and their order.
    public var rows: Rows
    /// Backward reads in reverse order.
    public var direction: PageDirection
    /// The position next to which the items begin, which is excluded; nil for the first items or, backward, the last ones.
    public var anchor: SortPosition?
    /// The maximum number of items.
    public var limit: Int
    package var filter: RowFilter?

    /// Creates a query, by default forward from the first item.
    ///
    /// ```swift
    /// let image = ItemType(kind: "ad", variant: "image")
    /// let query = RowQuery(.type(image), .forward, of: SortPosition(position: 1_024), limit: 5)
    /// ```
    public init(_ rows: Rows, _ direction: PageDirection = .forward, of anchor: SortPosition? = nil, limit: Int) {
        (self.rows, self.direction, self.anchor, self.limit) = (rows, direction, anchor, limit)
    }
}

/// The direction in which a page is read from its position.
public enum PageDirection: Sendable, Hashable {
    /// Items after a position, or from the start if the position is nil.
    case forward
    /// Items before a position, or from the end if the position is nil.
    case backward

    /// The opposite direction.
    public var reversed: PageDirection {
        switch self {
        case .forward: .backward
        case .backward: .forward
        }
    }
}
