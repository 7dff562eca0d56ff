internal import HTTPServer
internal import HTTPTypes
internal import Logging

/// Finds the route of a request; knows nothing of what routes do.
struct Router: HTTPHandler {
    typealias Canned = @Sendable (borrowing RequestHead) -> CannedResponse?
    /// The last is the time, in milliseconds since 1970-01-01 UTC.
    typealias Deferred = @Sendable (borrowing RequestHead, PeerAddress, Int64) -> DeferredRoute?

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

    func deferred(for head: borrowing RequestHead, peer: PeerAddress) -> DeferredAnswer? {
        guard let route = table.deferred(head, peer, clock()) else { return nil }
        return DeferredAnswer(route: route.pattern) { reply in
            route.begin { make in
                reply {
                    do { return try make() } catch { return problem(error, on: route.pattern).response }
                }
            }
        }
    }

    func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        guard let resource = table.resource(at: Target(request.path ?? "").path) else {
            return .answer(Problem(.notFound, nil, "There is nothing here.").response)
        }
        guard let route = resource.route(request.method.routed) else { return refuse(request.method, at: resource) }
        return .accept(
            bodyLimit: route.bodyLimit, streamsBody: route.streamsBody, cancelsOnPeerClose: route.cancelsOnPeerClose,
            timeLimit: route.timeLimit, route: route.pattern)
    }

    func respond(to request: ServerRequest) async -> ServerResponse {
        await answer(to: request).response
    }

    /// The answer, and the problem that it tells, where it tells one.
    func answer(to request: ServerRequest) async -> (response: ServerResponse, problem: Problem?) {
        let target = Target(request.head.path ?? "")
        guard let resource = table.resource(at: target.path), let route = resource.route(request.head.method.routed) else {
            let problem = Problem(.notFound, nil, "There is nothing here.")
            return (problem.response, problem)
        }
        do {
            let parameters = resource.parameters(of: target.path)
            return (try await route.handle(try RouteRequest(request, target: target, parameters: parameters, now: clock())), nil)
        } catch {
            let problem = problem(error, on: route.pattern)
            return (problem.response, problem)
        }
    }

    private func problem(_ error: any Error, on pattern: String) -> Problem {
        let problem = Problem(error)
        if problem.status.kind == .serverError {
            logger.error("request failed", metadata: ["route": "\(pattern)", "error": "\(error)"])
        }
        return problem
    }

    /// The methods of a resource; empty where there is none.
    func methods(at path: String) -> [HTTPRequest.Method] {
        table.resource(at: Target(path).path).map { Self.allowed($0.routes.map(\.method)) } ?? []
    }

    private static func allowed(_ methods: [HTTPRequest.Method]) -> [HTTPRequest.Method] {
        (methods.contains(.get) ? [.head] : []) + methods + [.options]
    }

    private func refuse(_ method: HTTPRequest.Method, at resource: Resource) -> RequestPlan {
        let (allowed, pattern) = (Self.allowed(resource.routes.map(\.method)), resource.pattern)
        guard method == .options else { return .methodNotAllowed(allowed, route: pattern) }
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return .answer(ServerResponse(status: .noContent, fields: [.allow: list]), route: pattern)
    }
}

extension HTTPRequest.Method {
    /// HEAD is answered by GET's route; the server leaves the body out.
    fileprivate var routed: HTTPRequest.Method { self == .head ? .get : self }
}
