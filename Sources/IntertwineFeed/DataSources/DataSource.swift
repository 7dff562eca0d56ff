/// A collection of items of the store in sections: the content of a feed, with its order.
///
/// A data source is created once and used for every page. It reads items from the snapshot of each page, so that all of a page is consistent.
/// ``FlatDataSource`` and ``SectionedDataSource`` read the streams of a `FeedStore`. A custom data source may order items of the store in another
/// way. A page is cached until the store or ``version`` changes, and the actions of its cells look items up in the store. Items that are not in the
/// store come from an ``AsyncDataSource``.
///
/// ```swift
/// /// The users that an editor has chosen, in the editor's order.
/// struct ChosenUsers: DataSource {
///     let ids: [String]
///     let sections = [FeedSection()]
///
///     func visit(_ query: SectionQuery, in snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void) throws {
///         var count = 0
///         for index in query.direction == .forward ? Array(ids.indices) : ids.indices.reversed() where count < query.limit {
///             guard query.includes(Int64(index)), var item = try snapshot.item(kind: "user", id: ids[index]) else { continue }
///             item.position = Int64(index)  // Its place in this feed.
///             try item.withRow(body)
///             count += 1
///         }
///     }
/// }
/// ```
public protocol DataSource: Sendable {
    /// The sections in their order, including empty ones. They are read once, when the feed is created.
    var sections: [FeedSection] { get }

    /// Visits items of a section in its order or, if the query reads backward, in reverse.
    ///
    /// Pagination uses this method: the cursor of a page is the position of its outermost item. By default, the items are those of the section's
    /// ``FeedSection/stream``.
    ///
    /// ```swift
    /// var ids: [String] = []
    /// try FlatDataSource(.content).visit(SectionQuery(limit: 20), in: snapshot) { row in
    ///     ids.append(String(decoding: row.id, as: UTF8.self))
    /// }
    /// ```
    ///
    /// - Parameter body: Called for each item, at most ``SectionQuery/limit`` times; fewer times only if the section ends. It must not read from
    ///   the snapshot.
    func visit(_ query: SectionQuery, in snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void) throws

    /// A Boolean value indicating whether ads are shown if the feed has no content. If false, the page is empty.
    var showsAdsAlone: Bool { get }

    /// A number that differs from all earlier ones if the order may have changed since without a change of the store. By default, it is 0.
    ///
    /// It is read for each request, on the event loop, and must not block.
    var version: UInt64 { get }
}

extension DataSource {
    /// True by default: a feed without content shows its ads.
    public var showsAdsAlone: Bool { true }

    /// The default version 0, for an order that changes only with the store.
    public var version: UInt64 { 0 }

    /// Visits items of the section's ``FeedSection/stream``. It visits no items if the section has no stream or does not exist.
    ///
    /// - Throws: The errors of the snapshot and of `body`.
    public func visit(_ query: SectionQuery, in snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void) throws {
        guard sections.indices.contains(query.section), let rows = sections[query.section].rows(query) else { return }
        try snapshot.visit(rows, body)
    }
}

/// A query for consecutive items of a section.
///
/// ```swift
/// let first = SectionQuery(limit: 20)
/// let previous = SectionQuery(section: 1, .backward, of: SortPosition(position: 42), limit: 20)
/// ```
public struct SectionQuery: Sendable, Hashable {
    /// The index of the section in ``DataSource/sections``.
    public var section: Int
    /// The direction in which the section is read.
    public var direction: PageDirection
    /// The position next to which the items begin, which is excluded; nil for the section's start or, backward, its end.
    public var anchor: SortPosition?
    /// The maximum number of items.
    public var limit: Int

    /// Creates a query for the first items of a section, unless an anchor or the direction `backward` is given.
    public init(section: Int = 0, _ direction: PageDirection = .forward, of anchor: SortPosition? = nil, limit: Int) {
        (self.section, self.direction, self.anchor, self.limit) = (section, direction, anchor, limit)
    }

    /// Returns true if a position lies beyond the anchor, in a section whose positions ascend.
    ///
    /// ```swift
    /// let query = SectionQuery(.forward, of: SortPosition(position: 42), limit: 20)
    /// query.includes(42)  // false
    /// query.includes(43)  // true
    /// ```
    public func includes(_ position: Int64) -> Bool {
        anchor.map { direction == .forward ? position > $0.position : position < $0.position } ?? true
    }
}

/// A data source with one stream of the store, or with the items of an asynchronous data source, without sections and headers.
///
/// ```swift
/// let source = FlatDataSource(.content, order: .newest)
/// ```
public struct FlatDataSource: DataSource {
    /// The only section, without a name and a header.
    public let sections: [FeedSection]

    /// Creates a data source with the items of one stream of the store.
    ///
    /// - Parameters:
    ///   - stream: The stream. The default is the content, without ads.
    ///   - order: The order of the items. The default is the order of their import.
    public init(_ stream: StreamID = .content, order: SectionSort = .imported) {
        sections = [FeedSection(stream: stream, order: order)]
    }

    /// Creates a data source with the items of an asynchronous data source, in the order of their positions.
    ///
    /// ```swift
    /// let cards = ArrayDataSource(items)
    /// extensions.dataSources["main"] = FlatDataSource(cards)
    /// ```
    public init(_ source: some AsyncDataSource) {
        sections = [FeedSection(source: source)]
    }
}

/// A data source with consecutive sections, of the store or of asynchronous data sources.
///
/// ```swift
/// let source = SectionedDataSource([
///     FeedSection("news", title: "News", stream: .content, order: .newest),
///     FeedSection("articles", title: "Articles", source: articles),
/// ])
/// ```
public struct SectionedDataSource: DataSource {
    /// The sections in their order.
    public let sections: [FeedSection]
    /// True if ads are shown although the feed has no content. The default is false.
    public let showsAdsAlone: Bool

    /// Creates a data source with sections. Their names must be unique.
    ///
    /// ```swift
    /// let cards = FeedSection("cards", title: "Cards", source: ArrayDataSource(items))
    /// let users = FeedSection("users", title: "Users", stream: .content)
    /// let source = SectionedDataSource([cards, users], showsAdsAlone: true)
    /// ```
    public init(_ sections: [FeedSection], showsAdsAlone: Bool = false) {
        (self.sections, self.showsAdsAlone) = (sections, showsAdsAlone)
    }
}
