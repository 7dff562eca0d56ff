import IntertwineService

/// Stands around all routes: turns away whoever says to be a robot, and tells on each answer whose kitchen it came from.
struct KitchenDoor: ServiceMiddleware {
    func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse {
        guard request.head.headerFields[.userAgent]?.contains("Robot") != true else { return ServerResponse(status: .forbidden) }
        var response = try await next(request)
        response.fields[.server] = "recipe-feed"
        return response
    }
}
