internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineObservability
internal import IntertwinePrimitives
internal import IntertwineRouting

/// The routes `GET /feed`, `GET /feeds/{name}` and `GET /feeds/{name}/sections/{section}`: pages of cells. Each has a route `/changes` below it.
struct FeedRoutes: Sendable {
    let feeds: FeedCatalogue
    let campaigns: Campaigns
    let campaignFacts: TargetingContextReader
    let store: any FeedStore
    let ledger: any Ledger
    let clients: ClientReader
    let pages: PageCache
    let shared: PageLoader
    let format: PageFormat
    let metrics: PageMetrics
    let catalogue: FeedListing
    let live: LiveFeeds

    private static let name = Parameter.segment(
        "name", nameSchema, "The feed's name: `main`, or one that configuration declares.", example: #""main""#)
    private static let section = Parameter.segment("section", nameSchema, "The name of one of its sections.", example: #""events""#)
    private static let nameSchema = Schema.string(pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$")

    /// A path of a feed, with a route for pages and one for changes.
    private struct PagePath {
        let pattern: String
        let parameters: [any RequestParameter]
        let pages: Words
        let changes: Words
        let missing: [ResponseDescription]
        let feed: @Sendable (RouteRequest) throws -> FeedAssembler

        struct Words {
            let id: String
            let summary: String
            let text: String
        }
    }

    var routes: [Route] {
        let unknownFeed = ResponseDescription.ProblemExample(.unknownFeed, "There is no such feed.")
        let unknownSection = ResponseDescription.ProblemExample(.unknownSection, "There is no such section in this feed.")
        let ways = [
            PagePath(
                pattern: "/feed", parameters: [],
                pages: .init(
                    id: "getFeed", summary: "A page of the feed",
                    text: """
                        Cells ready to be shown, in the feed's order: that of the items' first import, or section after section, each in its own \
                        order, where the feed was composed of sections. It is the feed `main` of `/feeds/{name}`. Walking `page.next` to the end \
                        meets every item that was there at the start exactly once, whatever is inserted, replaced or deleted meanwhile. The page's \
                        advertisements stand as one block at the midpoint of its content, in a feed with sections at that of each section's part \
                        of it; they rotate from page to page, beginning with another one for each viewer and hour, and the same cursor gives the same \
                        page. What the viewer dismissed is left out. A page with fewer than `limit` content items is the last.
                        """),
                changes: .init(
                    id: "getFeedChanges", summary: "What became of pages of the feed",
                    text: """
                        A client that shows pages keeps them in step: it asks for them with `changes=true`, and then now and again for what became \
                        of them. The feed is walked anew from where the first page begins, over as many pages, so the client's list is afterwards \
                        what somebody else would get by that walk: no cell twice, none missing where two pages meet. The service keeps nothing \
                        between two questions. With `If-None-Match`, nothing is sent as long as nothing more happens.
                        """),
                missing: []
            ) { _ in feeds.main },
            PagePath(
                pattern: "/feeds/{name}", parameters: [Self.name],
                pages: .init(
                    id: "getNamedFeed", summary: "A page of one of the feeds",
                    text: """
                        As `/feed`, for the feed of that name. `page.sections` names the sections that the page meets, in order; each section \
                        begins with a header, a cell of its own in front of its first item, which does not count for `limit`. A section without \
                        items has no header. Where a field orders a section, an item whose field changes meanwhile moves with it. A feed that \
                        there is, and that has no items, is an empty page; one that there is not is 404.
                        """),
                changes: .init(
                    id: "getNamedFeedChanges", summary: "What became of pages of a feed by its name",
                    text: "As `/feed/changes`, for a feed by its name."),
                missing: [.problem(.notFound, "There is no such feed.", [unknownFeed])]
            ) { try feeds.feed($0[Self.name]) },
            PagePath(
                pattern: "/feeds/{name}/sections/{section}", parameters: [Self.name, Self.section],
                pages: .init(
                    id: "getSection", summary: "A page of one section of a feed",
                    text: """
                        As `/feeds/{name}`, for one of its sections alone. The feed's cursors do not hold here. A feed without sections has none \
                        of this name either.
                        """),
                changes: .init(
                    id: "getSectionChanges", summary: "What became of pages of one section of a feed",
                    text: "As `/feed/changes`, for one section of a feed."),
                missing: [.problem(.notFound, "There is no such feed, or no such section in it.", [unknownFeed, unknownSection])]
            ) { try feeds.section($0[Self.section], of: $0[Self.name]) },
        ]
        return ways.flatMap(routes) + [
            catalogue.route,
            Route(.get, "/cells/{id}", Self.one) { try await cell($0) },
        ]
    }

    private static let one = APIOperation(
        "getCell", tag: "Feed", "One cell by its id",
        """
        As pages show it, for links into an app and for notifications. What the viewer dismissed is there too: whoever asks for it wants it. \
        An ad that belongs to a campaign is there if the campaign has a place for this viewer now, as on a page of the main feed.
        """,
        parameters: [
            FeedParameters.cell, FeedParameters.layout, FeedParameters.width, FeedParameters.scale, FeedParameters.client,
            FeedParameters.acceptCells, FeedParameters.acceptLanguage,
            FeedParameters.viewer, FeedParameters.ifNoneMatch,
        ],
        responses: ResponseDescription.negotiated + [
            .json(.ok, "The cell.", .cell, [.pageCaching, .eTag, .vary, .contentEncoding, .contentLanguage]),
            .badRequest("A parameter is wrong.", [.wrongViewer, .wrongClient]),
            .problem(
                .notFound, "There is no such cell, none in this layout, or none that the client knows.",
                [
                    .init(.unknownCell, "There is no such cell."),
                    .init(.unshownCell, "The cell is there, but the client supports none of StoryCell."),
                ]),
        ])

    private func cell(_ request: RouteRequest) async throws -> ServerResponse {
        var feed = FeedRequest(
            now: request.now, layout: try request[FeedParameters.layout], width: try request[FeedParameters.width],
            scale: try request[FeedParameters.scale])
        let viewer = try clients.viewer(of: request.head)
        if let viewer { add(viewer, to: &feed) }
        try await clients.addCapabilities(to: &feed, from: request)
        feed.campaigns = facts(for: request, viewer, at: feeds.main)
        switch try await feeds.main.cell(try request[FeedParameters.cell], feed) {
        case .found(let cell):
            let isShared = viewer == nil && cell.campaign == nil
            return format.response(cell, isShared: isShared, isNamed: feed.client != nil, in: feed.language)
        case .omitted(let reason):
            guard let lack = reason.lack else { throw Problem(.notFound, .unknownCell, "There is no such cell.") }
            throw Problem(.notFound, .unshownCell, "The cell is there, but \(lack).")
        case .missing: throw Problem(.notFound, .unknownCell, "There is no such cell.")
        }
    }

    private func routes(_ way: PagePath) -> [Route] {
        typealias P = FeedParameters
        let pages = APIOperation(
            way.pages.id, tag: "Feed", way.pages.summary, way.pages.text,
            parameters: way.parameters + [
                P.limit, P.cursor, P.layout, P.width, P.scale, P.changes, P.client, P.acceptCells, P.acceptLanguage, P.viewer,
                P.ifNoneMatch,
            ],
            responses: way.missing + ResponseDescription.page("`limit` or `cursor` is wrong.", [.wrongLimit, .wrongCursor]))
        let wrongSince = ResponseDescription.ProblemExample(
            .invalidParameter, "since must be the page.since of each page that is held, with commas in between.")
        let changes = APIOperation(
            way.changes.id, tag: "Feed", way.changes.summary, way.changes.text + Self.liveText,
            parameters: way.parameters + [P.since, P.lastEvent, P.client, P.acceptCells, P.acceptLanguage, P.viewer, P.ifNoneMatch],
            responses: way.missing + ResponseDescription.negotiated + [
                .json(.ok, "The changes.", .changes, [.pageCaching, .eTag, .vary, .contentEncoding, .contentLanguage]),
                .badRequest("`since` is missing, or holds characters that it never has.", [wrongSince, .wrongClient]), .tooManyListeners,
            ])
        return [
            Route(.get, way.pattern, pages) { try await page($0, of: try way.feed($0), route: way.pattern) },
            Route(.get, "\(way.pattern)/changes", changes) { request in
                let since = try request[FeedParameters.since]
                let feed = try way.feed(request)
                if AcceptHeader(request.head.headerFields[.accept]).asks(for: "text/event-stream", ratherThan: "application/json") {
                    // An empty id counts as absent: event stream clients send it before the first event (WHATWG HTML, 9.2.4).
                    let last = request.head.headerFields[.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
                    return try await listen(request, since: last ?? since, to: feed)
                }
                guard let since else { throw FeedParameters.wrongSince }
                let held = since.split(separator: ",", omittingEmptySubsequences: false)
                return format.response(
                    try await self.changes(request, since: held, of: feed), in: clients.languages.language(of: request.head))
            },
            Route(.post, "\(way.pattern)/changes", posted(way), bodyLimit: Self.changesBodyLimit) { request in
                let held = try Self.clientPages(in: request.request.body.bytes ?? [])
                return format.unkept(
                    try await self.changes(request, since: held, of: try way.feed(request)),
                    in: clients.languages.language(of: request.head))
            },
        ]
    }

    private static let liveText = """
         With `Accept: text/event-stream` the answer goes on: each change is an event `changes` whose data is what is answered here otherwise \
        (`BatchUpdate`), and whose id is the next `since`; an event `reload` is the last.
        """

    /// The maximum size of a body in bytes: 16 texts of maximum length with the surrounding JSON.
    private static let changesBodyLimit = 128 << 10

    private func posted(_ way: PagePath) -> APIOperation {
        APIOperation(
            way.changes.id.replacing("get", with: "post", maxReplacements: 1), tag: "Feed", way.changes.summary + ", asked in a body",
            "The same answer within the same limits as `GET`, for pages whose `page.since` are too long together for a URL.",
            parameters: way.parameters + [
                FeedParameters.client, FeedParameters.acceptCells, FeedParameters.acceptLanguage, FeedParameters.viewer,
            ],
            body: RequestBodyDescription(
                .object([
                    .required(
                        "since",
                        .list(
                            of: .string(minLength: 1, maxLength: 6_144, pattern: "^[A-Za-z0-9_-]+$"), minimum: 1,
                            maximum: FeedAssembler.clientPageLimit),
                        "The `page.since` of each page that the client holds, in the order of the feed.")
                ]), text: "At most 16 pages.", example: #"{"since": ["AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ"]}"#),
            responses: way.missing + [
                .json(.ok, "The changes.", .changes, [.noStore, .contentLanguage]),
                .badRequest("The body is not one of these.", [.init(.invalidBody, Self.changesShape), .wrongClient, .wrongViewer]),
            ])
    }

    private static let changesShape = #"The body must be {"since": ["…"]}: the page.since of each page that is held."#

    /// Returns the texts in a body.
    private static func clientPages(in body: [UInt8]) throws(Problem) -> [String] {
        struct Held: Decodable { var since: [String] }
        guard let held = try? JSONDecoder().decode(Held.self, from: Data(body)), !held.since.isEmpty,
            held.since.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { FeedParameters.isPlain($0) && $0 != UInt8(ascii: ",") } })
        else {
            throw Problem(.badRequest, .invalidBody, changesShape)
        }
        return held.since
    }

    /// Returns the function that looks up cached pages on the event loops.
    func cachedLookup(viewerField: String, clock: @escaping @Sendable () -> Int64) -> Router.CachedLookup {
        let viewerField = Array(viewerField.lowercased().utf8)
        // Without declared languages, requests are not searched for one.
        let languages = clients.languages.languages.isEmpty ? nil : clients.languages
        return { [pages, shared, store, campaigns] head in
            guard head.method == .get || head.method == .head, !head.hasField(viewerField), !head.hasField("accept-cells") else {
                return nil
            }
            let now = clock()
            // Pages with ads of campaigns are made per request.
            guard !campaigns.hasActive(at: now) else { return nil }
            return pages.response(for: head, in: languages?.language(of: head), version: store.version, now: now) { shared.prefetch($0) }
        }
    }

    /// Returns the handler that makes pages without a task, in either content coding.
    ///
    /// It handles simple requests (``FastFeedQuery``), which pagination consists of. All other requests use the general route, with equal results.
    func pendingHandler() -> Router.PendingHandler {
        let doors = feeds.paths.map { (path: Array($0.path.utf8), pattern: $0.pattern, feed: $0.feed) }
        return { [self] head, peer, now in
            guard head.method == .get || head.method == .head, !head.hasField("accept-cells") else { return nil }
            for door in doors {
                guard let query = head.withTarget({ FastFeedQuery($0, of: door.path) }) else { continue }
                return pendingRoute(head, query, at: door.pattern, door.feed, from: peer.address, now: now)
            }
            return nil
        }
    }

    private func pendingRoute(
        _ head: borrowing RequestHead, _ query: FastFeedQuery, at pattern: String, _ assembler: FeedAssembler, from peer: String,
        now: Int64
    ) -> PendingRoute? {
        var feed = FeedRequest(
            cursor: query.cursor, limit: query.limit ?? FeedRequest.defaultLimit, now: now, rotation: RotationSeed(viewer: nil, now: now))
        feed.language = clients.languages.language(of: head)
        let gzip = head.acceptsGzip
        if clients.mayNameViewer(head) {
            guard let viewer = clients.viewerID(of: head) else { return nil }
            add(viewer, to: &feed)
            if campaigns.mayHaveActive(feed: assembler.title, at: now, store.version) {
                feed.campaigns = campaignFacts.facts(of: head, from: peer, viewer: viewer, now: now)
            }
            return own(feed, of: assembler, gzip: gzip, at: pattern)
        }
        var asked = feed
        if campaigns.mayHaveActive(feed: assembler.title, at: now, store.version) {
            asked.campaigns = campaignFacts.facts(of: head, from: peer, viewer: nil, now: now)
            if campaigns.hasActive(feed: assembler.title, at: now) { return own(asked, of: assembler, gzip: gzip, at: pattern) }
        }
        feed.isShared = true
        let target = head.withTarget { String(decoding: $0) }
        let wish = PageLoader.PageRequest(request: feed, feed: assembler, target: target, gzip: gzip, route: pattern)
        return PendingRoute(pattern: pattern) { [self, asked] reply in
            let work = CancellableWork()
            shared.page(wish, work: work) { page in
                guard case .failure(let error) = page, error is PageIsPersonalizedError else { return reply(page) }
                // A campaign became active after the first check.
                work.perform { make(asked, of: assembler, gzip: gzip, reply) }
            }
            return work.cancel
        }
    }

    /// Returns the route of a page for one viewer.
    private func own(_ feed: FeedRequest, of assembler: FeedAssembler, gzip: Bool, at pattern: String) -> PendingRoute {
        PendingRoute(pattern: pattern) { [self] reply in make(feed, of: assembler, gzip: gzip, reply) }
    }

    private func make(
        _ feed: FeedRequest, of assembler: FeedAssembler, gzip: Bool, _ reply: PendingRoute.Completion
    ) -> PendingResponse.Cancel? {
        assembler.page(feed) { [format, metrics] page in
            reply(
                page.map { page in
                    metrics.count(page.omissions)
                    return format.encoded(page, isShared: false, gzip: gzip)
                })
        }
    }

    private func page(_ request: RouteRequest, of assembler: FeedAssembler, route: String) async throws -> ServerResponse {
        var feed = FeedRequest(
            cursor: try request[FeedParameters.cursor], limit: try request[FeedParameters.limit], now: request.now,
            layout: try request[FeedParameters.layout], width: try request[FeedParameters.width],
            scale: try request[FeedParameters.scale], rotation: RotationSeed(viewer: nil, now: request.now),
            followsChanges: try request[FeedParameters.changes])
        try await clients.addCapabilities(to: &feed, from: request)
        let viewer = try clients.viewer(of: request.head)
        if viewer == nil, !campaigns.hasActive(feed: assembler.title, at: request.now) {
            feed.isShared = true
            do {
                let page = try await shared.page(
                    PageLoader.PageRequest(
                        request: feed, feed: assembler, target: request.head.path ?? "",
                        gzip: request.head.headerFields[.acceptEncoding] != nil, route: route))
                return ServerResponse(page)
            } catch is PageIsPersonalizedError {
                feed.isShared = false
            }
        }
        if let viewer { add(viewer, to: &feed) }
        feed.campaigns = facts(for: request, viewer, at: assembler)
        let page = try await assembler.page(feed)
        metrics.count(page.omissions)
        return format.response(page, to: request.head)
    }

    /// Returns an event stream with the changes of the client's pages.
    private func listen(_ request: RouteRequest, since: String?, to feed: FeedAssembler) async throws -> ServerResponse {
        guard let since, !since.isEmpty, since.utf8.count <= Self.changesBodyLimit, since.utf8.allSatisfy(FeedParameters.isPlain) else {
            throw FeedParameters.wrongSince
        }
        var asked = FeedRequest(now: request.now)
        try await clients.addCapabilities(to: &asked, from: request)
        let viewer = try clients.viewer(of: request.head)
        var held = facts(for: request, viewer, at: feed)
        // Pages of the client have times of their own.
        held?.moment = 0
        held?.address = 0
        return try live.listen(
            LiveFeeds.Key(
                path: feed.path, viewer: viewer, lacking: asked.lacking, client: asked.client,
                facts: held, language: asked.language, since: since))
    }

    private func changes(
        _ request: RouteRequest, since held: [some StringProtocol], of assembler: FeedAssembler
    ) async throws -> FeedChanges {
        let viewer = try clients.viewer(of: request.head)
        var feed = FeedRequest(of: viewer, in: ledger, now: request.now)
        try await clients.addCapabilities(to: &feed, from: request)
        feed.campaigns = facts(for: request, viewer, at: assembler)
        return try await assembler.changes(since: held, feed)
    }

    /// Returns the targeting context of a request; nil if no campaign can have an ad slot in the feed.
    private func facts(for request: RouteRequest, _ viewer: String?, at feed: FeedAssembler) -> TargetingContext? {
        guard campaigns.mayHaveActive(feed: feed.title, at: request.now, store.version) else { return nil }
        return campaignFacts.facts(of: request.head, from: request.request.peer.address, viewer: viewer, now: request.now)
    }

    private func add(_ viewer: String, to feed: inout FeedRequest) {
        feed.hasViewer = true
        feed.rotation = RotationSeed(viewer: viewer, now: feed.now)
        feed.viewerState = ListMembership(of: viewer, in: ledger)
    }
}

extension FeedRequest {
    /// Creates a request for the first page of a feed, by a viewer or without one.
    init(of viewer: String?, in ledger: any Ledger, now: Int64) {
        self.init(
            now: now, hasViewer: viewer != nil, marks: viewer.map { ListMembership(of: $0, in: ledger) },
            rotation: RotationSeed(viewer: viewer, now: now))
    }
}
