internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /click/{token}`: the clickthrough link. It leads to the stored URL, never to one taken from the request.
struct ClickRoutes: Sendable {
    private static let pattern = "/click/{token}"

    let performer: ActionPerformer
    let clients: ClientReader
    let verdicts: VerdictField

    var routes: [Route] {
        [Route(.get, Self.pattern) { try await follow($0) }]
    }

    /// What a link leads to that is known already: most clicks are on few links, and have no more to wait for than the disk.
    func deferred(for head: borrowing RequestHead, from peer: PeerAddress, now: Int64) -> DeferredRoute? {
        guard head.method == .get || head.method == .head, let token = head.segment(behind: "/click/") else { return nil }
        let client = clients.lenientTrace(of: head, from: peer.address, now: now)
        guard let click = performer.performBriefly(token: token, for: client, now: now) else { return nil }
        return DeferredRoute(pattern: Self.pattern) { reply in
            performer.commit(click) { result in
                reply { response(for: try result.get()) }
            }
        }
    }

    private func follow(_ request: RouteRequest) async throws -> ServerResponse {
        let client = clients.lenientTrace(of: request.head, from: request.request.peer.address, now: request.now)
        return response(for: try await performer.click(token: request.parameter("token"), for: client, now: request.now))
    }

    private func response(for click: ActionPerformer.Click) -> ServerResponse {
        let response = ServerResponse(status: .found, fields: [.location: click.location, .cacheControl: "no-store"])
        return verdicts.added(click.verdict, to: response)
    }
}
