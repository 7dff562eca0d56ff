internal import HTTPServer
internal import HTTPTypes
internal import Logging

/// Finds the route of a request; knows nothing of what routes do.
struct Router: HTTPHandler {
    typealias Canned = @Sendable (borrowing RequestHead) -> CannedResponse?

    private let table: RouteTable
    private let clock: @Sendable () -> Int64
    private let logger: Logger

    /// - Parameters:
    ///   - finished: looks up answers that are ready, before anything is made of the request's bytes.
    ///   - clock: milliseconds since 1970-01-01 UTC.
    init(_ routes: [Route], finished: @escaping Canned = { _ in nil }, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.init(RouteTable(routes, finished: finished), clock: clock, logger: logger)
    }

    /// - Parameter table: looked up anew for each request.
    init(_ table: RouteTable, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.table = table
        self.clock = clock
        self.logger = logger
    }

    func canned(for head: borrowing RequestHead) -> CannedResponse? {
        table.finished(head)
    }

    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        let target = Target(request.path ?? "")
        let matching = routes(at: target)
        guard let any = matching.first else { return .answer(Problem(.notFound, nil, "There is nothing here.").response) }
        guard let route = matching.first(where: { $0.method == request.method.routed }) else {
            return refuse(request.method, at: any.pattern, allowing: matching.map(\.method))
        }
        return .accept(
            bodyLimit: route.bodyLimit, streamsBody: route.streamsBody, cancelsOnPeerClose: route.cancelsOnPeerClose,
            timeLimit: route.timeLimit, route: route.pattern)
    }

    func respond(to request: ServerRequest) async -> ServerResponse {
        let target = Target(request.head.path ?? "")
        for route in routes(at: target) where route.method == request.head.method.routed {
            guard let parameters = route.match(target.path) else { continue }
            do {
                return try await route.handle(try RouteRequest(request, target: target, parameters: parameters, now: clock()))
            } catch {
                let problem = Problem(error)
                if problem.status.kind == .serverError {
                    logger.error("request failed", metadata: ["route": "\(route.pattern)", "error": "\(error)"])
                }
                return problem.response
            }
        }
        return Problem(.notFound, nil, "There is nothing here.").response
    }

    /// The routes of one resource: where several patterns match, the one with the most literal segments.
    private func routes(at target: Target) -> [Route] {
        let matching = table.routes.filter { $0.match(target.path) != nil }
        guard let closest = matching.max(by: { $0.literals < $1.literals }) else { return [] }
        return matching.filter { $0.pattern == closest.pattern }
    }

    /// The methods of a resource; empty where there is none.
    func methods(at path: String) -> [HTTPRequest.Method] {
        let methods = routes(at: Target(path)).map(\.method)
        return methods.isEmpty ? [] : Self.allowed(methods)
    }

    private static func allowed(_ methods: [HTTPRequest.Method]) -> [HTTPRequest.Method] {
        (methods.contains(.get) ? [.head] : []) + methods + [.options]
    }

    private func refuse(_ method: HTTPRequest.Method, at pattern: String, allowing methods: [HTTPRequest.Method]) -> RequestPlan {
        let allowed = Self.allowed(methods)
        guard method == .options else { return .methodNotAllowed(allowed, route: pattern) }
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return .answer(ServerResponse(status: .noContent, fields: [.allow: list]), route: pattern)
    }
}

extension HTTPRequest.Method {
    /// HEAD is answered by GET's route; the server leaves the body out.
    fileprivate var routed: HTTPRequest.Method { self == .head ? .get : self }
}
