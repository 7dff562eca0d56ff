// article: MiddlewareOfYourOwn
import IntertwineService

/// Names the program in each response.
struct ServerName: ServiceMiddleware {
    private static let fields = EncodedFields([.server: "Recipes"])

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        next.handle(head, peer: peer).adding(Self.fields)
    }
}

/// Refuses writes during maintenance, and counts the bytes of other responses.
struct Maintenance: ServiceMiddleware {
    let isOn: @Sendable () -> Bool
    let count: @Sendable (_ route: String, _ bytes: Int) -> Void

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        if isOn(), head.request.method != .get {
            return .respond(ServerResponse(status: .serviceUnavailable, fields: [.retryAfter: "60"]), route: route)
        }
        guard let route, route.hasPrefix("/lists") else { return next.handle(head, peer: peer) }
        return next.handle(head, peer: peer) { request, respond in
            let response = try await respond(request)
            count(route, response.bytes?.count ?? 0)
            return response
        }
    }
}

func maintained(
    isOn: @escaping @Sendable () -> Bool, count: @escaping @Sendable (_ route: String, _ bytes: Int) -> Void
) -> ServiceExtensions {
    var extensions = following
    extensions.middleware = [ServerName(), Maintenance(isOn: isOn, count: count)]
    return extensions
}
// article: end
