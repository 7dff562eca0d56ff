internal import HTTPTypes
public import IntertwineHTTPServer

/// Middleware around routes: around all of the public listener (``ServiceExtensions/middleware``), or around a group of a program's own
/// (``ServiceRoute/group(_:middleware:_:)``). It calls the next handler and changes its result.
///
/// The result is any of the four ways to answer a request. Middleware that only adds fields keeps cached pages and clicks as fast as they are.
/// Middleware that reads or changes the response runs around it in a task.
///
/// ```swift
/// struct Timing: ServiceMiddleware {
///     func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
///         next.handle(head, peer: peer) { request, respond in
///             let begun = ContinuousClock.now
///             var response = try await respond(request)
///             let duration = (ContinuousClock.now - begun) / .milliseconds(1)
///             if let timing = HTTPField.Name("Server-Timing") { response.fields[timing] = "total;dur=\(duration)" }
///             return response
///         }
///     }
/// }
/// ```
///
/// In a task it may pass on another request, change the response and its body, or throw. An error becomes problem details, as in routes. Responses
/// of requests without a route, and of requests that the server refuses, belong to no task.
public protocol ServiceMiddleware: Sendable {
    /// Decides how a request is answered. Called on the event loop: it must be fast and must not block.
    ///
    /// - Parameters:
    ///   - route: The pattern of the matched route, such as `/cells/{id}`; nil if no route matches.
    ///   - next: The next middleware, or the routes after the last one.
    func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult
}

struct MiddlewareHandler: HTTPHandler {
    let middleware: any ServiceMiddleware
    let router: Router
    let next: any HTTPHandler

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        middleware.handle(head, peer: peer, route: router.pattern(for: head), next: next)
    }

    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { next.refusalFields(field) }
}

struct RouteMiddlewareHandler: HTTPHandler {
    let middleware: any ServiceMiddleware
    let route: String
    let next: any HTTPHandler

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        middleware.handle(head, peer: peer, route: route, next: next)
    }
}
