internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /click/{token}`: the clickthrough link. It leads to the stored URL, never to one taken from the request.
struct ClickRoutes: Sendable {
    let performer: ActionPerformer
    let clients: ClientReader
    let verdicts: VerdictField

    var routes: [Route] {
        [Route(.get, "/click/{token}", staysOnLoop: true) { try await follow($0) }]
    }

    private func follow(_ request: RouteRequest) async throws -> ServerResponse {
        let client = clients.lenientTrace(of: request.head, from: request.request.peer.address, now: request.now)
        let click = try await performer.click(token: request.parameter("token"), for: client, now: request.now)
        let response = ServerResponse(status: .found, fields: [.location: click.location, .cacheControl: "no-store"])
        return verdicts.added(click.verdict, to: response)
    }
}
