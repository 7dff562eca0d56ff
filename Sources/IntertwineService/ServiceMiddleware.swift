internal import HTTPTypes
public import IntertwineHTTPServer
internal import IntertwineRouting
internal import Logging

/// Stands around all routes of the public listener: sees each request before they do, and its answer after them.
///
///     struct Timing: ServiceMiddleware {
///         func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse {
///             let begun = ContinuousClock.now
///             var response = try await next(request)
///             response.fields[.serverTiming] = "total;dur=\(ContinuousClock.now - begun)"
///             return response
///         }
///     }
///
/// It may answer by itself, hand on another request, change what comes back, or throw: what it throws becomes problem details, as of any
/// route. Requests for which there is no route, and those that the server refuses, never get to it. With a middleware, all pages and
/// clicks go the long way, by a task each.
public protocol ServiceMiddleware: Sendable {
    /// What stands behind it: the next middleware, and after the last one the routes.
    typealias Next = @Sendable (ServerRequest) async throws -> ServerResponse

    func handle(_ request: ServerRequest, next: Next) async throws -> ServerResponse
}

/// Has middleware called before another handler, the first one first.
struct MiddlewareHandler: HTTPHandler {
    let middleware: [any ServiceMiddleware]
    let handler: any HTTPHandler
    let logger: Logger

    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        handler.plan(for: request, peer: peer).around { sent, respond in
            do {
                return try await Self.respond(to: sent, through: middleware[...]) { asked in
                    // One that it changed may mean another route.
                    if asked.head.method == request.method, asked.head.path == request.path { return await respond(asked) }
                    return await handler.plan(for: asked.head, peer: peer).respond(to: asked)
                }
            } catch {
                let problem = Problem(error)
                if problem.status.kind == .serverError { logger.error("middleware failed", metadata: ["error": "\(error)"]) }
                return problem.response
            }
        }
    }

    func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        handler.refuse(request, peer: peer, with: response)
    }

    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { handler.refusalFields(field) }

    func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int) { handler.refused(method, peer: peer, status: status) }

    private static func respond(
        to request: ServerRequest, through middleware: ArraySlice<any ServiceMiddleware>, _ respond: @escaping RequestPlan.Respond
    ) async throws -> ServerResponse {
        guard let first = middleware.first else { return await respond(request).unfinished }
        return try await first.handle(request) { try await Self.respond(to: $0, through: middleware.dropFirst(), respond) }
    }
}
