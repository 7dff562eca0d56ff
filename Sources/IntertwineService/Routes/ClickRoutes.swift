internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting

/// `GET /click/{token}`: the clickthrough link. It leads to the stored URL, never to one taken from the request.
///
/// A class, as each click holds it until its answer.
final class ClickRoutes: Sendable {
    private static let pattern = "/click/{token}"
    private static let token = Parameter.segment(
        "token", FeedParameters.plain, "The link's token, as the cell's selection has it.",
        example: #""kWaFAAEAB5v5AABhZDoxewYoes4OQtjDmmoYLaAlRQ""#)
    private static let viewer = Parameter.field(
        FeedParameters.viewerField, .string,
        "Who asks, as for other requests; but a name that is too long or no UTF-8 is none, and the link is followed all the same.",
        example: #""viewer-1""#)

    private let performer: ActionPerformer
    private let clients: ClientReader
    private let redirects: RedirectCache

    init(performer: ActionPerformer, clients: ClientReader, redirects: RedirectCache) {
        self.performer = performer
        self.clients = clients
        self.redirects = redirects
    }

    var routes: [Route] {
        let operation = APIOperation(
            "followClick", tag: "Actions", "Follow a clickthrough link",
            """
            Redirects to the stored clickthrough URL, never to one taken from the request. The click is in the ledger, on disk, before it \
            is answered. An expired token still redirects, uncounted.
            """,
            parameters: [Self.token, Self.viewer],
            responses: [
                .empty(.found, "Go there.", [.location, .noStore, .verdict]), .badRequest("The path is not UTF-8.", []),
                .problem(.notFound, "The token is forged or damaged.", [.init(.invalidToken, "There is nothing behind this link.")]),
                .problem(.gone, "The advertisement is gone.", [.init(.goneAdvertisement, "This advertisement is gone.")]),
            ])
        return [Route(.get, Self.pattern, operation) { [self] in try await follow($0) }]
    }

    /// What a link leads to that is known already: most clicks are on few links, and have no more to wait for than the disk.
    func pendingRoute(for head: borrowing RequestHead, from peer: PeerAddress, now: Int64) -> PendingRoute? {
        guard head.method == .get || head.method == .head, let token = head.pathParameter(afterPrefix: "/click/") else { return nil }
        let client = clients.fingerprintIgnoringErrors(of: head, from: peer.address, now: now)
        guard let link = performer.link(token: token, for: client, now: now) else { return nil }
        return PendingRoute(pattern: Self.pattern) { [performer, redirects] reply in
            performer.follow(link) { result in
                reply {
                    let click = try result.get()
                    return redirects.response(to: click.location, as: click.verdict)
                }
            }
            // The click has happened, whether or not somebody waits to be led on.
            return nil
        }
    }

    private func follow(_ request: RouteRequest) async throws -> ServerResponse {
        let client = clients.fingerprintIgnoringErrors(of: request.head, from: request.request.peer.address, now: request.now)
        let click = try await performer.click(token: try request[Self.token], for: client, now: request.now)
        return redirects.uncached(to: click.location, as: click.verdict)
    }
}
