// article: RoutesOfYourOwn
import IntertwineService

/// Refuses requests without a token.
struct TokenGate: ServiceMiddleware {
    let token: String

    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        guard head.request.headerFields[.authorization] == "Bearer \(token)" else {
            return .respond(ServerResponse(status: .unauthorized, fields: [.wwwAuthenticate: "Bearer"]), route: route)
        }
        return next.handle(head, peer: peer)
    }
}

/// Adds a copyright notice to the texts of all routes except the health checks.
struct Notice: ServiceMiddleware {
    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
        guard let route, !["/healthz", "/readyz"].contains(route) else { return next.handle(head, peer: peer) }
        return next.handle(head, peer: peer) { request, respond in
            var response = try await respond(request)
            if let body = response.bytes, response.fields[.contentType]?.hasPrefix("text/plain") == true {
                response.replaceBody(with: body + Array(" © Recipes Ltd".utf8))
            }
            return response
        }
    }
}

func extensions(token: String) -> ServiceExtensions {
    let names = ServiceRoute(.get, "/users/{id}/name") { _, context in
        let id = try context.parameters.require("id")
        guard let user = try await context.read({ try $0.item(kind: "user", id: id) }) else {
            throw Refusal(.notFound, "There is no such user.")
        }
        return ServerResponse(body: String(decoding: try ItemFields(user.body).text("username", limit: 200), as: UTF8.self))
    }
    let orders = ServiceRoute(.get, "/orders/{number}") { _, context in
        try .json(["number": context.parameters.require("number", as: Int.self), "time": Int(context.now)])
    }
    var extensions = ServiceExtensions()
    extensions.routes = [names] + ServiceRoute.group("/kitchen", middleware: [TokenGate(token: token)], [orders])
    extensions.middleware = [Notice()]
    return extensions
}
// article: end
