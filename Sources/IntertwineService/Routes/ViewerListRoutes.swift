internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

struct ViewerListRoutes: Sendable {
    private let lists: [(list: ViewerList, path: String, assembler: ViewerListAssembler)]
    private let clients: ClientReader
    private let format: PageFormat

    init(
        _ added: [ViewerList] = [], clients: ClientReader, format: PageFormat,
        assembler: (_ list: ViewerList, _ path: String) -> ViewerListAssembler
    ) {
        lists = ([.saved, .dismissed] + added).map { ($0, $0.path, assembler($0, $0.path)) }
        self.clients = clients
        self.format = format
    }

    var routes: [Route] {
        lists.map { list, path, assembler in
            Route(path, Self.operation(of: list), encoded: { try await page($0, of: list, assembler) })
        }
    }

    private static func operation(of list: ViewerList) -> APIOperation {
        typealias P = FeedParameters
        let text =
            switch list {
            case .saved: "The order is newest first. The command `save` adds cells to this list; the configuration assigns it to slots."
            case .dismissed:
                "The order is newest first. The viewer's pages omit these cells until they are restored or their dismissals are undone."
            default: "The order is newest first. Slots of cells add cells to this list."
            }
        return APIOperation(
            "get" + list.rawValue.prefix(1).uppercased() + list.rawValue.dropFirst(), tag: "Feed",
            "A page of the viewer's \(list.rawValue) cells", text,
            parameters: [
                P.limit, P.cursor, P.layout, P.width, P.scale, P.client, P.acceptCells, P.acceptLanguage, P.requiredViewer, P.ifNoneMatch,
            ],
            responses: ResponseDescription.page(
                "`limit` or `cursor` is invalid.", [.wrongLimit, .wrongCursor],
                forbidden: .problem(
                    .forbidden, "The request names no viewer, or its sender is not in `server.trusted-proxies`.",
                    [.init(.viewerRequired, viewerRequired(list).detail), .untrustedViewer])))
    }

    static func viewerRequired(_ list: ViewerList) -> Problem {
        Problem(.forbidden, .viewerRequired, "The list of \(list.rawValue) cells requires a viewer, and the request names none.")
    }

    private func page(_ request: RouteRequest, of list: ViewerList, _ assembler: ViewerListAssembler) async throws -> EncodedResponse {
        guard let viewer = try await clients.identity(of: request).viewer else { throw Self.viewerRequired(list) }
        var feed = FeedRequest(now: request.now)
        try await clients.addCapabilities(to: &feed, from: request)
        let page = try await assembler.page(
            of: viewer, cursor: try request[FeedParameters.cursor], limit: try request[FeedParameters.limit], now: request.now,
            layout: try request[FeedParameters.layout], width: try request[FeedParameters.width],
            scale: try request[FeedParameters.scale], unsupportedCells: feed.unsupportedCells, client: feed.client, language: feed.language)
        return format.response(page, to: request.head)
    }
}
