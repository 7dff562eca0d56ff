import IntertwineService

/// Refuses requests of robots, and adds the field `Server` to all responses.
struct RobotFilter: ServiceMiddleware {
    private static let fields = EncodedFields([.server: "recipe-feed"])

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        let isRobot = head.request.headerFields[.userAgent]?.contains("Robot") ?? false
        let result = isRobot ? .respond(ServerResponse(status: .forbidden)) : next.handle(head, peer: peer)
        return result.adding(Self.fields)
    }
}
