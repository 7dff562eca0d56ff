internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct FeedRoutes: Sendable {
    let feeds: FeedCatalogue
    let campaigns: Campaigns
    let store: any FeedStore
    let ledger: any Ledger
    let clients: ClientReader
    let loader: PageLoader
    let format: PageFormat
    let catalogue: FeedListing
    let live: LiveFeeds

    private static let name = Parameter.segment(
        "name", nameSchema, "The name of the feed: `main`, or a declared one.", example: #""main""#)
    private static let section = Parameter.segment("section", nameSchema, "The name of a section of the feed.", example: #""events""#)
    private static let nameSchema = Schema.string(pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$")

    private struct PagePath {
        let pattern: String
        let parameters: [any RequestParameter]
        let pages: Words
        let changes: Words
        let missing: [ResponseDescription]
        let feed: @Sendable (_ segment: (String) -> String) throws(Problem) -> FeedAssembler

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
                        `/feed` is an alias of `/feeds/main`. The response has ready-to-render cells in the order of the feed: the order of the items' \
                        first import, or section after section if the feed has sections. Filters of the feed (`GET /feeds`) are query parameters with the \
                        names of their fields. Pagination along `page.next` returns each item that existed at its start exactly once, also if items \
                        are inserted, replaced or deleted in the meantime. A page with fewer than `limit` content items is the last one.

                        By default, the ads of a page are one block at the midpoint of its content, or of each section's part of it. They rotate from page to page. \
                        The first ad depends on the viewer and the hour. Requests with equal cursors return equal pages. The page omits cells that the \
                        viewer dismissed.
                        """),
                changes: .init(
                    id: "getFeedChanges", summary: "The changes of pages of the feed",
                    text: """
                        A client keeps its pages in sync: it requests them with `changes=true`, and later requests their changes. The service reads the \
                        feed again from the start of the first page, over as many pages. The updated list equals the list of a new pagination: no cell \
                        is missing or duplicated between two pages. The service stores no state between two requests. With `If-None-Match`, the response \
                        is 304 if there are no further changes.
                        """),
                missing: []
            ) { (_) throws(Problem) in feeds.main },
            PagePath(
                pattern: "/feeds/{name}", parameters: [Self.name],
                pages: .init(
                    id: "getNamedFeed", summary: "A page of a feed",
                    text: """
                        The response has the form of `/feed`. `page.sections` has the names of the sections on the page, in order. Each section with items \
                        begins with a header cell, which does not count toward `limit`. If a field orders a section, an item moves when the value of its \
                        field changes. The response is an empty page if the feed has no items, and 404 if there is no such feed.
                        """),
                changes: .init(
                    id: "getNamedFeedChanges", summary: "The changes of pages of a feed",
                    text: "The response has the form of `/feed/changes`."),
                missing: [.problem(.notFound, "There is no such feed.", [unknownFeed])]
            ) { (segment) throws(Problem) in try feeds.feed(segment("name")) },
            PagePath(
                pattern: "/feeds/{name}/sections/{section}", parameters: [Self.name, Self.section],
                pages: .init(
                    id: "getSection", summary: "A page of one section of a feed",
                    text: """
                        The response has the form of `/feeds/{name}`, with the cells of one section. Cursors of the feed are invalid here. The response is \
                        404 if the feed has no such section.
                        """),
                changes: .init(
                    id: "getSectionChanges", summary: "The changes of pages of one section of a feed",
                    text: "The response has the form of `/feed/changes`."),
                missing: [.problem(.notFound, "There is no such feed, or no such section in it.", [unknownFeed, unknownSection])]
            ) { (segment) throws(Problem) in try feeds.section(segment("section"), of: segment("name")) },
        ]
        return ways.flatMap(routes) + [
            catalogue.route,
            Route(.get, "/cells/{id}", Self.one) { try await cell($0) },
        ]
    }

    private static let one = APIOperation(
        "getCell", tag: "Feed", "One cell by its id",
        """
        The cell as on a page, for deep links and notifications. The response has the cell even if the viewer dismissed it. An ad that belongs to \
        a campaign is available only if the campaign would win an ad slot of the main feed for this viewer now.
        """,
        parameters: [
            FeedParameters.cell, FeedParameters.layout, FeedParameters.width, FeedParameters.scale, FeedParameters.client,
            FeedParameters.acceptCells, FeedParameters.acceptLanguage,
            FeedParameters.viewer, FeedParameters.ifNoneMatch,
        ],
        responses: ResponseDescription.negotiated + [
            .json(.ok, "The cell.", .cell, [.pageCaching, .eTag, .vary, .contentEncoding, .contentLanguage]),
            .badRequest("A parameter is invalid.", [.wrongViewer, .wrongClient]), .untrustedViewer,
            .problem(
                .notFound, "The cell does not exist, does not exist in this layout, or is not supported by the client.",
                [
                    .init(.unknownCell, "There is no such cell."),
                    .init(.unshownCell, "The cell exists, but the client supports none of StoryCell."),
                ]),
        ])

    private func cell(_ request: RouteRequest) async throws -> ServerResponse {
        var feed = FeedRequest(
            now: request.now, layout: try request[FeedParameters.layout], width: try request[FeedParameters.width],
            scale: try request[FeedParameters.scale])
        let sender = try await clients.identity(of: request)
        try await clients.addCapabilities(to: &feed, from: request)
        switch try await feeds.main.cell(try request[FeedParameters.cell], feed, for: client(of: request, sender, at: feeds.main)) {
        case .found(let cell):
            let isShared = sender.viewer == nil && cell.campaign == nil && !feeds.main.hasPersonalItems
            return format.response(cell, isShared: isShared, isNamed: feed.client != nil, in: feed.language, now: feed.now)
        case .omitted(let reason):
            guard let lack = reason.lack else { throw Problem(.notFound, .unknownCell, "There is no such cell.") }
            throw Problem(.notFound, .unshownCell, "The cell exists, but \(lack).")
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
            responses: way.missing + ResponseDescription.page("`limit` or `cursor` is invalid.", [.wrongLimit, .wrongCursor]))
        let invalidSyncToken = ResponseDescription.ProblemExample(FeedParameters.invalidSyncToken(.required))
        let changes = APIOperation(
            way.changes.id, tag: "Feed", way.changes.summary, way.changes.text + Self.liveText,
            parameters: way.parameters + [P.syncToken, P.lastEvent, P.client, P.acceptCells, P.acceptLanguage, P.viewer, P.ifNoneMatch],
            responses: way.missing + ResponseDescription.negotiated + [
                .json(.ok, "The changes.", .changes, [.pageCaching, .eTag, .vary, .contentEncoding, .contentLanguage]),
                .badRequest("`syncToken` is missing or has invalid characters.", [invalidSyncToken, .wrongClient]), .untrustedViewer,
                .tooManyListeners,
            ])
        return [
            Route(way.pattern, pages, cached: { cachedPage($0, $1) }, pending: { try? pendingPage($0, $1, of: way) }) { request in
                try await page(request, of: try way.feed(request.segment), route: way.pattern)
            },
            Route(.get, "\(way.pattern)/changes", changes) { request in
                let syncTokens = try request[FeedParameters.syncToken]
                let feed = try way.feed(request.segment)
                if AcceptHeader(request.head.headerFields[.accept]).asks(for: "text/event-stream", ratherThan: "application/json") {
                    // An empty id counts as absent: event stream clients send it before the first event (WHATWG HTML, 9.2.4).
                    let last = request.head.headerFields[.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
                    return try await listen(request, since: last ?? syncTokens, to: feed)
                }
                guard let syncTokens else { throw FeedParameters.invalidSyncToken(.required) }
                let held = syncTokens.split(separator: ",", omittingEmptySubsequences: false)
                return format.response(
                    try await self.changes(request, since: held, of: feed), in: clients.languages.language(of: request.head))
            },
            Route(.post, "\(way.pattern)/changes", posted(way), bodyLimit: Self.changesBodyLimit) { request in
                let held = try Self.clientPages(in: request)
                return format.unkept(
                    try await self.changes(request, since: held, of: try way.feed(request.segment)),
                    in: clients.languages.language(of: request.head))
            },
        ]
    }

    private static let liveText = """
         With `Accept: text/event-stream`, the response is a stream of events. The data of an event `changes` is a `BatchUpdate`, and its id is the \
        next `syncToken`. An event `reload` is the last one.
        """

    /// The maximum size of a body in bytes: 16 sync tokens of maximum length with the surrounding JSON.
    private static let changesBodyLimit = 128 << 10

    private func posted(_ way: PagePath) -> APIOperation {
        APIOperation(
            way.changes.id.replacing("get", with: "post", maxReplacements: 1), tag: "Feed",
            way.changes.summary + ", with the sync tokens in the body",
            "The response and its limits equal those of `GET`. A client uses it if its sync tokens are too long for a URL.",
            parameters: way.parameters + [
                FeedParameters.client, FeedParameters.acceptCells, FeedParameters.acceptLanguage, FeedParameters.viewer,
            ],
            body: RequestBodyDescription(
                .object([
                    .required(
                        "syncTokens",
                        .list(
                            of: .string(minLength: 1, maxLength: 6_144, pattern: "^[A-Za-z0-9_-]+$"), minimum: 1,
                            maximum: FeedAssembler.clientPageLimit),
                        "The `page.syncToken` of each page of the client, in the order of the feed.")
                ]), text: "At most 16 pages.", example: #"{"syncTokens": ["AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ"]}"#),
            responses: way.missing + [
                .json(.ok, "The changes.", .changes, [.noStore, .contentLanguage]),
                .badRequest(
                    "The body has another form.",
                    [.init(.invalidBody(at: "/syncTokens", .required, Self.changesShape)), .wrongClient, .wrongViewer]),
                .refusedWrite,
            ])
    }

    private static let changesShape = #"The body must be {"syncTokens": ["…"]}: the page.syncToken of each page of the client."#

    private static func clientPages(in request: RouteRequest) throws(Problem) -> [String] {
        struct Held: Decodable { var syncTokens: [String] }
        let tokens = try request.body(as: Held.self, changesShape).syncTokens
        guard !tokens.isEmpty else { throw .invalidBody(at: "/syncTokens", .required, changesShape) }
        let invalid = tokens.indices.filter { index in
            tokens[index].isEmpty || !tokens[index].utf8.allSatisfy { FeedParameters.isPlain($0) && $0 != UInt8(ascii: ",") }
        }
        guard invalid.isEmpty else {
            throw .invalidBody(changesShape, invalid.map { InvalidValue(.pointer("/syncTokens/\($0)"), .invalid, changesShape) })
        }
        return tokens
    }

    private func cachedPage(_ head: borrowing RequestHead, _ match: RouteMatch) -> EncodedResponse? {
        guard clients.viewers.isAnonymous(head, from: match.peer), !head.hasField("accept-cells") else { return nil }
        // Pages with ads of campaigns are made per request.
        guard !campaigns.hasActive(at: match.now) else { return nil }
        return loader.cachedPage(for: head, in: clients.languages.language(of: head), now: match.now)
    }

    private func pendingPage(
        _ head: borrowing RequestHead, _ match: RouteMatch, of path: PagePath
    ) throws(Problem) -> HandlerResult.PendingStart? {
        guard !head.hasField("accept-cells"), let query = head.withQuery({ FastFeedQuery($0) }) else { return nil }
        let assembler = try path.feed { name in match.segment(name, of: head) }
        let (peer, now) = (match.peer.address, match.now)
        var feed = FeedRequest(
            cursor: query.cursor, limit: query.limit ?? FeedRequest.defaultLimit, now: now, rotationHour: CellTokens.bucket(of: now))
        feed.language = clients.languages.language(of: head)
        let gzip = head.acceptsGzip
        guard let sender = clients.viewers.identity(of: head, from: match.peer, now: now) else { return nil }
        var client = PageClient(sender.viewer, in: ledger)
        if assembler.needsFacts || campaigns.mayHaveActive(feed: assembler.title, at: now, store.version) {
            client.targeting = clients.targeting(of: head, from: peer, as: sender, now: now)
        }
        client.asksRanker = client.targeting?.allocates == true
        if assembler.dependsOnViewer { client.attributes = clients.attributes(of: head, from: peer, as: sender) }
        if makesPage(of: assembler, for: sender, at: now) {
            return { [loader, feed, client] promise in
                loader.page(feed, of: assembler, for: client, gzip: gzip) { page in promise.complete { .encoded(try page.get()) } }
            }
        }
        let target = head.withTarget { String(decoding: $0) }
        let request = PageLoader.PageRequest(feed, of: assembler, target: target, gzip: gzip, route: path.pattern)
        return { [loader, client] promise in
            loader.page(request, for: client) { page in promise.complete { .encoded(try page.get()) } }
        }
    }

    private func page(_ request: RouteRequest, of assembler: FeedAssembler, route: String) async throws -> EncodedResponse {
        var feed = FeedRequest(
            cursor: try request[FeedParameters.cursor], limit: try request[FeedParameters.limit], now: request.now,
            layout: try request[FeedParameters.layout], width: try request[FeedParameters.width],
            scale: try request[FeedParameters.scale], rotationHour: CellTokens.bucket(of: request.now),
            followsChanges: try request[FeedParameters.changes])
        feed.filters = try FeedParameters.filters(request.query, of: assembler)
        try await clients.addCapabilities(to: &feed, from: request)
        let sender = try await clients.identity(of: request)
        let client = client(of: request, sender, at: assembler)
        let gzip = request.head.mayAcceptGzip
        if makesPage(of: assembler, for: sender, at: request.now) {
            return try await loader.response { [feed] in loader.page(feed, of: assembler, for: client, gzip: gzip, completion: $0) }
        }
        let shared = PageLoader.PageRequest(feed, of: assembler, target: request.head.path ?? "", gzip: gzip, route: route)
        return try await loader.response { loader.page(shared, for: client, completion: $0) }
    }

    /// True if the page is made for this request only, so that no cache and no other request may get it.
    private func makesPage(of feed: FeedAssembler, for sender: RequestIdentity, at now: Int64) -> Bool {
        sender.viewer != nil || feed.dependsOnViewer || campaigns.hasActive(feed: feed.title, at: now)
    }

    private func listen(_ request: RouteRequest, since syncTokens: String?, to feed: FeedAssembler) async throws -> ServerResponse {
        guard let syncTokens, !syncTokens.isEmpty, syncTokens.utf8.count <= Self.changesBodyLimit,
            syncTokens.utf8.allSatisfy(FeedParameters.isPlain)
        else {
            throw FeedParameters.invalidSyncToken(syncTokens == nil ? .required : .invalid)
        }
        var asked = FeedRequest(now: request.now)
        try await clients.addCapabilities(to: &asked, from: request)
        let sender = try await clients.identity(of: request)
        var held = targeting(for: request, sender, at: feed)
        // Pages of the client have times of their own.
        held?.moment = 0
        let address = clients.address(of: request.head, from: request.request.peer.address)
        return try live.listen(
            LiveFeeds.Key(
                path: feed.path, viewer: sender.viewer.map { ByteString($0) }, unsupportedCells: asked.unsupportedCells,
                client: asked.client,
                targeting: held, attributes: attributes(of: request, sender, at: feed), language: asked.language, syncTokens: syncTokens),
            from: WriteLimiter.network(of: address), until: sender.end,
            sender.revocation)
    }

    private func changes(
        _ request: RouteRequest, since held: [some StringProtocol], of assembler: FeedAssembler
    ) async throws -> FeedChanges {
        let sender = try await clients.identity(of: request)
        var feed = FeedRequest(now: request.now, rotationHour: CellTokens.bucket(of: request.now))
        try await clients.addCapabilities(to: &feed, from: request)
        return try await assembler.changes(since: held, feed, for: client(of: request, sender, at: assembler))
    }

    private func targeting(for request: RouteRequest, _ sender: RequestIdentity, at feed: FeedAssembler) -> TargetingContext? {
        guard feed.needsFacts || campaigns.mayHaveActive(feed: feed.title, at: request.now, store.version) else { return nil }
        return clients.targeting(of: request.head, from: request.request.peer.address, as: sender, now: request.now)
    }

    private func client(of request: RouteRequest, _ sender: RequestIdentity, at feed: FeedAssembler) -> PageClient {
        var client = PageClient(
            sender.viewer, in: ledger, targeting: targeting(for: request, sender, at: feed),
            attributes: attributes(of: request, sender, at: feed))
        client.asksRanker = client.targeting?.allocates == true
        return client
    }

    private func attributes(of request: RouteRequest, _ sender: RequestIdentity, at feed: FeedAssembler) -> ViewerAttributes? {
        feed.dependsOnViewer ? clients.attributes(of: request.head, from: request.request.peer.address, as: sender) : nil
    }
}
