internal import HTTPServer
internal import HTTPTypes

/// Lets nobody through to a handler who has no access: whatever the path, the answer is the same.
struct GuardedHandler: HTTPHandler {
    let access: OperatorAccess
    let handler: Router

    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        if let problem = access.refusal(of: request) { return .answer(problem.response) }
        return handler.plan(for: request, peer: peer)
    }

    func respond(to request: ServerRequest) async -> ServerResponse {
        await handler.respond(to: request)
    }
}
