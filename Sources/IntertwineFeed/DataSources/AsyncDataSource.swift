/// A source of items outside the store, such as an HTTP API or a list in memory, for a section of a feed.
///
/// Items need no import and no kind, only a cell factory for their type. Cells, actions, undo, cursors, changes and live updates work as for items
/// of the store. Pages are cached until ``version`` changes. Operators cannot take these items down.
///
/// ```swift
/// struct Articles: AsyncDataSource {
///     let api: ArticleClient
///     /// Another value in each second.
///     var version: UInt64 { UInt64(Date.now.timeIntervalSince1970) }
///
///     func page(after position: Int64?, limit: Int) async throws -> [FeedItem] {
///         try await api.articles(olderThan: position.map { -$0 }, count: limit).map(item)
///     }
///
///     func item(id: String) async throws -> FeedItem? { try await api.article(id).map(item) }
///
///     /// Positions ascend, so the newest article has the least one.
///     private func item(_ article: Article) throws -> FeedItem {
///         try FeedItem(kind: "article", id: article.id, position: -article.published, fields: article)
///     }
/// }
///
/// extensions.dataSources["main"] = FlatDataSource(Articles(api: api))
/// ```
public protocol AsyncDataSource: Sendable {
    /// A number that differs from all earlier ones if any item, or the order, may have changed since.
    ///
    /// It is read for each request, on the event loop, and must not block. A source that cannot know returns a number that changes with time.
    var version: UInt64 { get }

    /// Returns consecutive items, whose positions ascend. It must not block.
    ///
    /// ```swift
    /// let source = ArrayDataSource(items)
    /// let first = try await source.page(after: nil, limit: 20)
    /// let second = try await source.page(after: first.last?.position, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - position: The position before the first item, which is excluded; nil for the start. No item need have it any more.
    ///   - limit: The maximum number of items, up to 300. Fewer items end the list, so a source with smaller pages requests several of them.
    func page(after position: Int64?, limit: Int) async throws -> [FeedItem]

    /// Returns the last items before a position, whose positions ascend. By default, the source is read from its start.
    ///
    /// - Parameter position: The position after the last item, which is excluded; nil for the end.
    func page(before position: Int64?, limit: Int) async throws -> [FeedItem]

    /// Returns an item, for the actions on its cell; nil if it does not exist. Ids are unique in a source, also across kinds.
    func item(id: String) async throws -> FeedItem?

    /// The time limit of a call. Requests that wait for a longer call get 503. By default, five seconds.
    var timeLimit: Duration { get }

    /// The maximum number of calls in progress, and of requests that wait for them. Further requests get 503. By default, 64.
    var waitingLimit: Int { get }
}

extension AsyncDataSource {
    /// The default time limit of a call: five seconds.
    public var timeLimit: Duration { .seconds(5) }

    /// The default limit of calls in progress, and of requests that wait for them: 64.
    public var waitingLimit: Int { 64 }

    /// Returns the last items before a position, with a scan of the source from its start in pages of 100 items.
    ///
    /// The cost grows with the number of items before the position. A source that can read backward overrides the method.
    /// - Throws: The errors of ``AsyncDataSource/page(after:limit:)``; `CancellationError` if the task is cancelled.
    public func page(before position: Int64?, limit: Int) async throws -> [FeedItem] {
        let size = 100
        var (last, items): (Int64?, [FeedItem]) = (nil, [])
        while true {
            try Task.checkCancellation()
            let page = try await page(after: last, limit: size)
            let before = page.prefix { item in position.map { item.position < $0 } ?? true }
            items = Array((items + before).suffix(limit))
            guard before.count == page.count, page.count == size, let end = page.last?.position, end > last ?? .min else { return items }
            last = end
        }
    }
}
