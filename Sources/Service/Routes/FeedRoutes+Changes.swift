internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /feed/changes?since=…`, and the same of each other feed: what became of the pages that a client holds.
extension FeedRoutes {
    func changes(_ request: RouteRequest, of assembler: FeedAssembler) async throws -> ServerResponse {
        guard let since = try request.query.text("since") else {
            throw Problem(.badRequest, .invalidParameter, "since is missing: it holds the since of each page, with commas in between.")
        }
        var feed = FeedRequest(now: request.now)
        if let viewer = try clients.viewer(of: request.head) { try await add(viewer, to: &feed) }
        let changes = try await assembler.changes(since: since.split(separator: ",", omittingEmptySubsequences: false), feed)
        return format.response(changes)
    }
}
