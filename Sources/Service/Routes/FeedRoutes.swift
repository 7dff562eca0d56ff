internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /feed`, `GET /feeds/{name}` and `GET /feeds/{name}/sections/{section}`: pages of cells; and under each, `/changes`.
struct FeedRoutes: Sendable {
    let feeds: FeedCatalogue
    let store: any FeedStore
    let ledger: any Ledger
    let clients: ClientReader
    let pages: FinishedPages
    let format: PageFormat
    let metrics: PageMetrics

    var routes: [Route] {
        routes("/feed") { _ in feeds.main } + routes("/feeds/{name}") { try feeds.feed($0.parameter("name")) }
            + routes("/feeds/{name}/sections/{section}") { try feeds.section($0.parameter("section"), of: $0.parameter("name")) }
    }

    private func routes(_ pattern: String, feed: @escaping @Sendable (RouteRequest) throws -> FeedAssembler) -> [Route] {
        [
            Route(.get, pattern) { try await page($0, of: try feed($0), route: pattern) },
            Route(.get, "\(pattern)/changes") { try await changes($0, of: try feed($0)) },
        ]
    }

    /// Looks up finished pages, on the event loops.
    func finished(viewerField: String, clock: @escaping @Sendable () -> Int64) -> Router.Canned {
        let viewerField = Array(viewerField.lowercased().utf8)
        return { [pages, store] head in
            guard head.method == .get || head.method == .head, !head.hasField(viewerField) else { return nil }
            return pages.canned(for: head, version: store.version, now: clock())
        }
    }

    private func page(_ request: RouteRequest, of assembler: FeedAssembler, route: String) async throws -> ServerResponse {
        let limit = try request.query.integer("limit", in: FeedRequest.limits, default: FeedRequest.defaultLimit)
        var feed = FeedRequest(
            cursor: try request.query.cursor(), limit: limit, now: request.now, layout: try request.query.layout(),
            width: try request.query.width(), followsChanges: try request.query.flag("changes"))
        guard let viewer = try clients.viewer(of: request.head) else {
            return ServerResponse(try await shared(feed, of: assembler, request.head, route: route))
        }
        try await add(viewer, to: &feed)
        let page = try await assembler.page(feed)
        metrics.count(page.omissions)
        return format.response(page, isShared: false)
    }

    func add(_ viewer: String, to feed: inout FeedRequest) async throws {
        feed.hasViewer = true
        feed.hidden = try await ledger.allCells(on: .dismissed, of: viewer)
    }

    /// A page that is the same for everyone, kept for the next who asks.
    private func shared(
        _ feed: FeedRequest, of assembler: FeedAssembler, _ head: HTTPRequest, route: String
    ) async throws -> CannedResponse {
        let key = FinishedPages.Key(feed, of: assembler.path)
        let version = store.version
        let needsGzip = head.headerFields[.acceptEncoding] != nil
        let target = head.path ?? ""
        if let page = pages.page(key, target: target, version: version, now: feed.now), let canned = page.canned(gzip: needsGzip) {
            metrics.hit()
            return canned
        }
        metrics.miss()
        let page = try await assembler.page(feed)
        metrics.count(page.omissions)
        let response = format.response(page, isShared: true)
        let canned = CannedResponse(response, compressionLevel: needsGzip ? PageFormat.compressionLevel : nil, route: route)
        pages.keep(canned, hasGzip: needsGzip, as: key, target: target, version: version, validUntil: page.validUntil)
        return canned
    }
}
