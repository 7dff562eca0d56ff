import IntertwineService

/// Refuses requests without the kitchen's token.
struct TokenAuthentication: ServiceMiddleware {
    let token: String

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        guard head.request.headerFields[.authorization] == "Bearer \(token)" else {
            return .respond(ServerResponse(status: .unauthorized, fields: [.wwwAuthenticate: "Bearer"]), route: route)
        }
        return next.handle(head, peer: peer)
    }
}

/// Logs the route and the status of each request. Cached pages stay as fast as without it, because it leaves them out.
struct RequestLogging: ServiceMiddleware {
    let logger: Logger

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        guard let route, route != "/feed" else { return next.handle(head, peer: peer) }
        return next.handle(head, peer: peer) { request, respond in
            let response = try await respond(request)
            logger.info("request", metadata: ["route": "\(route)", "status": "\(response.status.code)"])
            return response
        }
    }
}
