internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /saved`: what a viewer has saved, page by page.
struct SavedRoutes: Sendable {
    let assembler: ViewerListAssembler
    let clients: ClientReader
    let format: PageFormat

    var routes: [Route] {
        [Route(.get, "/saved") { try await page($0) }]
    }

    private func page(_ request: RouteRequest) async throws -> ServerResponse {
        let limit = try request.query.integer("limit", in: FeedRequest.limits, default: FeedRequest.defaultLimit)
        guard let viewer = try clients.viewer(of: request.head) else {
            throw Problem(.badRequest, .viewerRequired, "A list of saved cells belongs to a viewer; none was named.")
        }
        let page = try await assembler.page(
            of: viewer, cursor: try request.query.cursor(), limit: limit, now: request.now, layout: try request.query.layout(),
            width: try request.query.width())
        return format.response(page, isShared: false)
    }
}
