import IntertwineService

/// Stands around all routes: turns away whoever says to be a robot, and tells on each answer whose kitchen it came from.
struct KitchenDoor: ServiceMiddleware {
    private static let fields = EncodedFields([.server: "recipe-feed"])

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        let isRobot = head.request.headerFields[.userAgent]?.contains("Robot") ?? false
        let result = isRobot ? .respond(ServerResponse(status: .forbidden)) : next.handle(head, peer: peer)
        return result.adding(Self.fields)
    }
}
