internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /feed/changes?since=…`, and the same of each other feed: what became of the pages that a client holds.
extension FeedRoutes {
    func changes(_ request: RouteRequest, of assembler: FeedAssembler) async throws -> ServerResponse {
        guard let since = try request.query.text("since"), !since.isEmpty, since.utf8.allSatisfy(Self.isPlain) else {
            throw Problem(.badRequest, .invalidParameter, "since must be the page.since of each page that is held, with commas in between.")
        }
        var feed = FeedRequest(now: request.now)
        if let viewer = try clients.viewer(of: request.head) { try await add(viewer, to: &feed) }
        let changes = try await assembler.changes(since: since.split(separator: ",", omittingEmptySubsequences: false), feed)
        return format.response(changes)
    }

    /// Characters of base64url, and the comma.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ","):
            true
        default: false
        }
    }
}
