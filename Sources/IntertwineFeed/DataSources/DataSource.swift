internal import IntertwinePrimitives

/// The source of a feed: it describes the items of the store that a feed shows, or has items of its own, such as those of an HTTP API.
///
/// A data source is created once and used for every page. ``FlatDataSource`` and ``SectionedDataSource`` show the streams of a `FeedStore` and
/// other data sources. A source with ``sections`` describes which items of the store they hold for a request (``query(of:for:)``). One
/// without sections has items of its own. They need no import and no kind, only a cell factory for their type. Cells, actions, undo, cursors,
/// changes and live updates work as for items of the store. Operators cannot take these items down.
///
/// A page is cached until the store or ``version`` changes. If the items depend on the viewer (``dependsOnViewer``), each page is made for one request.
///
/// ```swift
/// struct Articles: DataSource {
///     let api: ArticleClient
///
///     /// The newest article comes first: positions descend.
///     func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
///         try await api.articles(olderThan: position, count: limit).map(item)
///     }
///
///     func item(id: String, for context: FeedContext) async throws -> FeedItem? { try await api.article(id).map(item) }
///
///     private func item(_ article: Article) throws -> FeedItem {
///         try FeedItem(kind: "article", id: article.id, position: article.published, fields: article)
///     }
/// }
///
/// extensions.dataSources["main"] = Articles(api: api)
/// ```
public protocol DataSource: Sendable {
    /// The sections in their order, including empty ones. They are read once, when the feed is created. By default, there are none, and the
    /// source has items of its own.
    var sections: [FeedSection] { get }

    /// Returns the items of the store that a section shows for a request; nil for none. By default, all of its stream.
    ///
    /// It is called on a thread of the store and should not block. The query has the order of the section, because cursors refer to it.
    func query(of section: Int, for context: FeedContext) throws -> ItemQuery?

    /// Returns consecutive items of the source's own, in its order. It must not block.
    ///
    /// An item with an empty body is a reference to the item of the store with its kind and id (``FeedItem/init(stored:id:position:)``), at its
    /// position in this source. An item can have a ``FeedItem/reason`` for the viewer.
    ///
    /// ```swift
    /// let source = ArrayDataSource(items)
    /// let first = try await source.items(after: nil, limit: 20, for: FeedContext())
    /// let second = try await source.items(after: first.last?.position, limit: 20, for: FeedContext())
    /// ```
    ///
    /// - Parameters:
    ///   - position: The position before the first item, which is excluded; nil for the start. No item need have it any more.
    ///   - limit: The maximum number of items, up to 300. Fewer items end the list, so a source with smaller pages requests several of them.
    func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem]

    /// Returns the last items before a position, in the source's order. By default, the source is read from its start.
    ///
    /// - Parameter position: The position after the last item, which is excluded; nil for the end.
    func items(before position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem]

    /// Returns an item of the source's own, for the actions on its cell; nil if it does not exist for this viewer. Ids are unique in a source,
    /// also across kinds. By default, there is none.
    ///
    /// The context has the viewer and the language of the request, without attributes and filters.
    func item(id: String, for context: FeedContext) async throws -> FeedItem?

    /// True if the positions of the source's own items descend, as with times of publication; false if they ascend. The default is true.
    var isNewestFirst: Bool { get }

    /// True if the items depend on the viewer or on the viewer's attributes. Pages are then private, and neither a cache nor a request of another
    /// viewer gets them. If it is false, as by default, contexts have no viewer and no attributes.
    var dependsOnViewer: Bool { get }

    /// A Boolean value indicating whether ads are shown if the feed has no content. If false, the page is empty.
    var showsAdsAlone: Bool { get }

    /// A number that differs from all earlier ones if the items, or their order, may have changed since without a change of the store.
    ///
    /// It is read for each request, on the event loop, and must not block. By default, it is 0 for a source with sections, and another number in
    /// each second for a source with items of its own.
    var version: UInt64 { get }

    /// The time limit of a call of the source's own items. Requests that wait for a longer call get 503. By default, five seconds.
    var timeLimit: Duration { get }

    /// The maximum number of calls in progress, and of requests that wait for them. Further requests get 503. By default, 64.
    var waitingLimit: Int { get }
}

extension DataSource {
    /// No sections by default: the source has items of its own.
    public var sections: [FeedSection] { [] }

    /// True by default: a feed without content shows its ads.
    public var showsAdsAlone: Bool { true }

    /// True by default: positions descend.
    public var isNewestFirst: Bool { true }

    /// False by default: all viewers get the same items.
    public var dependsOnViewer: Bool { false }

    /// 0 for a source with sections; otherwise, another number in each second.
    public var version: UInt64 { sections.isEmpty ? UInt64(clamping: 1 + start.duration(to: .now).components.seconds) : 0 }

    /// The default time limit of a call: five seconds.
    public var timeLimit: Duration { .seconds(5) }

    /// The default limit of calls in progress, and of requests that wait for them: 64.
    public var waitingLimit: Int { 64 }

    /// Returns all items of the section's ``FeedSection/stream``; nil if the section has no stream or does not exist.
    public func query(of section: Int, for context: FeedContext) throws -> ItemQuery? {
        sections.indices.contains(section) ? sections[section].query : nil
    }

    /// Returns no items, because the source has none of its own.
    public func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] { [] }

    /// Returns the last items before a position, with a scan of the source from its start in pages of 100 items.
    ///
    /// The cost grows with the number of items before the position. A source that can read backward overrides the method.
    /// - Throws: The errors of ``DataSource/items(after:limit:for:)``; `CancellationError` if the task is cancelled.
    public func items(before position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
        let size = 100
        var (last, items): (Int64?, [FeedItem]) = (nil, [])
        while true {
            try Task.checkCancellation()
            let page = try await self.items(after: last, limit: size, for: context)
            let before = page.prefix { item in position.map { isOrdered(item.position, $0) } ?? true }
            items = Array((items + before).suffix(limit))
            guard before.count == page.count, page.count == size, let end = page.last?.position, last.map({ isOrdered($0, end) }) ?? true
            else { return items }
            last = end
        }
    }

    /// Returns nil, because the items are in the store.
    public func item(id: String, for context: FeedContext) async throws -> FeedItem? { nil }

    func isOrdered(_ first: Int64, _ second: Int64) -> Bool { isNewestFirst ? first > second : first < second }

    /// The source as a feed: one without sections becomes the only section.
    package var asFeed: any DataSource { sections.isEmpty && !(self is SectionedDataSource) ? FlatDataSource(self) : self }
}

private let start = ContinuousClock.now

/// The request for which a ``DataSource`` chooses items.
///
/// ```swift
/// let request = FeedContext(attributes: ["group": ["members"]])
/// let isMember = request.attributes["group"]?.contains("members") ?? false
/// ```
public struct FeedContext: Sendable, Hashable {
    /// The viewer; nil if the request names none, or if the source does not depend on the viewer.
    public var viewer: String?
    /// The values of the viewer's attributes by name, as for the targeting of ads; none if the source does not depend on the viewer.
    public var attributes: [String: [String]]
    /// The language of the response; nil if the service has no languages.
    public var language: FeedLanguage?
    /// The values of the feed's filters by field; empty without filters.
    public var filters: [String: [String]]

    /// Creates the context of a request, by default of one without a viewer.
    public init(
        viewer: String? = nil, attributes: [String: [String]] = [:], language: FeedLanguage? = nil, filters: [String: [String]] = [:]
    ) {
        (self.viewer, self.attributes, self.language, self.filters) = (viewer, attributes, language, filters)
    }

    /// Returns true if the contexts are equal. Viewers are compared byte by byte, because canonically equivalent names are different viewers.
    public static func == (first: FeedContext, second: FeedContext) -> Bool {
        first.viewer.map { ByteString($0) } == second.viewer.map { ByteString($0) } && first.attributes == second.attributes
            && first.language == second.language && RowFilter.text(first.filters) == RowFilter.text(second.filters)
    }

    /// Hashes the context.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(viewer.map { ByteString($0) })
        hasher.combine(attributes)
        hasher.combine(language)
        hasher.combine(RowFilter.text(filters))
    }

    func scoped(to source: any DataSource) -> FeedContext {
        source.dependsOnViewer ? self : FeedContext(language: language, filters: filters)
    }
}

/// The items of the store that a section shows for a request.
///
/// ```swift
/// let newest = ItemQuery(.content, order: .newest)
/// ```
public struct ItemQuery: Sendable, Hashable {
    /// The stream of the store.
    public var stream: StreamID
    /// The order of the items.
    public var order: SectionSort
    /// The fields with the authors of items, by kind, if the query selects the items of the authors that the viewer follows.
    package var followed: [String: String]?

    /// Creates a query for all items of a stream.
    public init(_ stream: StreamID = .content, order: SectionSort = .imported) {
        (self.stream, self.order) = (stream, order)
    }

    func rows(_ query: SectionQuery) -> RowQuery {
        let direction = order.isDescending ? query.direction.reversed : query.direction
        return RowQuery(order.rows(of: stream), direction, of: query.anchor, limit: query.limit)
    }
}

/// Consecutive items of a section, next to an anchor, which is excluded; nil for the section's start or, backward, its end.
struct SectionQuery: Hashable {
    var section: Int
    var direction: PageDirection
    var anchor: SortPosition?
    var limit: Int

    init(section: Int = 0, _ direction: PageDirection = .forward, of anchor: SortPosition? = nil, limit: Int) {
        (self.section, self.direction, self.anchor, self.limit) = (section, direction, anchor, limit)
    }
}

/// A data source with one stream of the store, or with the items of another data source, without sections and headers.
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

    /// Creates a data source with the own items of another one.
    ///
    /// ```swift
    /// let cards = ArrayDataSource(items)
    /// extensions.dataSources["main"] = FlatDataSource(cards)
    /// ```
    public init(_ source: some DataSource) {
        sections = [FeedSection(source: source)]
    }
}

/// A data source with consecutive sections, of the store or of data sources with items of their own.
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
    /// The fields with the authors of items, by kind, if the feed shows the items of the authors that the viewer follows.
    package private(set) var followed: [String: String]?

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

    /// Creates a data source with the items of the authors that the viewer follows; nil for all items.
    package init(_ sections: [FeedSection], followed: [String: String]?, showsAdsAlone: Bool = false) {
        self.init(sections, showsAdsAlone: showsAdsAlone)
        self.followed = followed
    }

    /// True if the feed shows the items of the authors that the viewer follows.
    public var dependsOnViewer: Bool { followed != nil }

    /// Returns the items of the section's ``FeedSection/stream``; nil if the section has no stream or does not exist.
    public func query(of section: Int, for context: FeedContext) throws -> ItemQuery? {
        var query = sections.indices.contains(section) ? sections[section].query : nil
        query?.followed = followed
        return query
    }
}
