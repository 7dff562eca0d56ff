internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// The routes `GET /admin/preview/feeds/{name}?at=&drafts=&viewer=`, a page of a feed as of a moment, and
/// `POST /admin/preview/items/{kind}/{id}`, the cells of an item that is not stored. They record nothing.
struct PreviewRoutes: Sendable {
    static let item = "/admin/preview/items/{kind}/{id}"

    let feeds: @Sendable () -> FeedCatalogue
    let ledger: any Ledger
    let items: ItemRoutes
    let factories: @Sendable () -> CellFactories
    let links: Links
    let languages: FeedLanguages
    let hasViewers: Bool

    private static let pattern = "/admin/preview/feeds/{name}"
    private static let name = Parameter.segment(
        "name", .string(minLength: 1), "The name of the feed, as in `GET /feeds`.", example: #""main""#)
    private static let at = Parameter.text(
        "at", .time, "The moment, in RFC 3339 format. The default is now.", example: #""2027-01-31T08:00:00Z""#
    ) { (query) throws(Problem) in
        let text = try query.text("at")
        guard text.map({ Timestamp.milliseconds(of: $0) != nil }) ?? true else { throw wrongTime }
        return text
    }
    private static let wrongTime = Problem.invalidParameter(
        "at", .invalid, "at must be a time in RFC 3339 format, such as 2027-01-31T08:00:00Z.")
    private static let drafts = Parameter.flag("drafts", "If true, drafts are shown too, at the times that they have.")
    private static let viewer = Parameter.text(
        "viewer", .string(minLength: 1, maxLength: 256), "The viewer whose page it is. The page omits the cells that the viewer dismissed.",
        example: #""viewer-1""#
    ) { (query) throws(Problem) in
        let viewer = try query.text("viewer")
        guard (1...256).contains(viewer?.unicodeScalars.count ?? 1) else {
            throw .invalidParameter("viewer", viewer?.isEmpty == true ? .invalid : .tooLong, "viewer must be 1 to 256 characters long.")
        }
        return viewer
    }

    var routes: [Route] {
        typealias P = FeedParameters
        let operation = APIOperation(
            "previewFeed", tag: "Explanations", "A page as of a moment, with drafts",
            """
            The page that the feed will have, or had, at a moment, for a viewer or without one. The ranker of the feed is asked with `preview=true`, \
            without attributes and language; if it fails, the page has `degraded`. Ads are those of the present. Events with its tokens are \
            refused, and it makes no offers, so it counts nothing. Images of items that are not public are shown by this listener alone.
            """,
            parameters: [Self.name, Self.at, Self.drafts, Self.viewer, P.cursor, P.limit, P.layout, P.width, P.scale],
            responses: [
                .json(.ok, "A page.", .page, [.noStore]), .notModified,
                .badRequest("A parameter is invalid, or the request is malformed.", [.init(Self.wrongTime), .wrongLimit, .wrongCursor]),
                .problem(.notFound, "There is no such feed.", [.init(.unknownFeed, "There is no such feed.")]), .storeUnavailable,
            ])
        let cells = APIOperation(
            "previewItem", tag: "Items", "The cells of an item",
            """
            The cells that an item of the import's form would have, in every language and layout. Nothing is stored, and the tokens of the cells are \
            not valid. A campaign has none. The role `read` suffices.
            """,
            parameters: [ItemRoutes.kind, ItemRoutes.id],
            body: RequestBodyDescription(.itemBody, example: ItemRoutes.itemExample),
            responses: [
                .json(
                    .ok, "The pages of cells.",
                    .object([
                        .required(
                            "pages",
                            .list(
                                of: .object([
                                    .required("layout", .words(CellLayout.allCases.map(\.rawValue))), .optional("language", .string),
                                    .required("cells", .list(of: .cell)),
                                ])), "A page for each language and layout.")
                    ]),
                    [.noStore], example: #"{"pages": [{"layout": "collection", "cells": []}, {"layout": "table", "cells": []}]}"#),
                .badRequest(
                    "The body is not JSON, or the request is malformed.",
                    [.init(.invalidBody(at: "", .invalid, "The body must be JSON: one object; at byte 1: ends too early."))]),
                .forbidden, ItemRoutes.missingItem, .contentTooLarge,
                .problem(
                    .unprocessableContent, "The item is invalid. `detail` names the field.",
                    [.init(.invalid(.invalidItem, ["username"], .required, "The item is not valid: username: is missing."))]),
            ])
        return [
            Route(.get, Self.pattern, operation) { try await preview($0) }, Route(.post, Self.item, cells) { try cellsOfItem($0) },
        ]
    }

    private func cellsOfItem(_ request: RouteRequest) throws -> ServerResponse {
        let valid = try items.valid(in: request)
        let item = FeedItem(kind: valid.kind, id: valid.id, variant: valid.variant, position: 0, body: valid.body)
        return .noStore(
            encoded: try PlaygroundRoutes.pages(
                of: item, by: factories(), links: links, languages: languages, hasViewers: hasViewers, now: request.now))
    }

    private func preview(_ request: RouteRequest) async throws -> ServerResponse {
        let feed = try feeds().feed(try request[Self.name])
        let (moment, drafts, viewer) = (try request[Self.at], try request[Self.drafts], try request[Self.viewer])
        let now = moment.flatMap(Timestamp.milliseconds) ?? request.now
        var asked = FeedRequest(
            cursor: try request[FeedParameters.cursor], limit: try request[FeedParameters.limit], now: now,
            layout: try request[FeedParameters.layout], width: try request[FeedParameters.width],
            scale: try request[FeedParameters.scale], rotationHour: CellTokens.bucket(of: now))
        asked.filters = try FeedParameters.filters(request.query, besides: ["at", "drafts", "viewer"], of: feed)
        asked.preview = FeedRequest.Preview(showsDrafts: drafts)
        let targeting = TargetingContext(viewer: viewer, moment: now, allocates: false)
        var page = try await feed.page(asked, for: PageClient(viewer, in: ledger, targeting: targeting))
        let path = String((request.head.path ?? "").prefix { $0 != "?" })
        let rest = [moment.map { ("at", $0) }, drafts ? ("drafts", "true") : nil, viewer.map { ("viewer", $0) }].compactMap { $0 }
            .map { "&\($0)=\(PercentCoding.encode($1, keeping: .unreserved))" }.joined()
        func href(_ page: String?) -> String? {
            page.flatMap { href in href.firstIndex(of: "?").map { path + href[$0...] + rest } }
        }
        (page.next, page.previous) = (href(page.next), href(page.previous))
        return .noStore(encoded: page.encoded().json)
    }
}
