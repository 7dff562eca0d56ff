package import HTTPTypes
package import IntertwineHTTPServer
package import Logging
internal import Synchronization

/// Finds the route of a request, once, and has it answered; knows nothing of what routes do.
///
/// A class, as each deferred answer holds it until it is given.
package final class Router: HTTPHandler {
    /// Looks up an answer that lies ready, for all routes at once: by the bytes of the target, before these are taken apart to find a route.
    package typealias CachedLookup = @Sendable (borrowing RequestHead) -> EncodedResponse?
    /// Has an answer begun that no task waits for, before anything is made of the request: a task and a parsed head would cost a click more than
    /// all else. The last is the time, in milliseconds since 1970-01-01 UTC.
    package typealias PendingHandler = @Sendable (borrowing RequestHead, PeerAddress, Int64) -> PendingRoute?

    private let table: Mutex<RouteTable>
    private let clock: @Sendable () -> Int64
    private let failures: ErrorLogThrottle

    /// - Parameters:
    ///   - table: the routes, until ``serve(_:)`` says otherwise.
    ///   - clock: milliseconds since 1970-01-01 UTC.
    package init(_ table: RouteTable, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.table = Mutex(table)
        self.clock = clock
        failures = ErrorLogThrottle(logger)
    }

    /// The same with routes that stay.
    package convenience init(_ routes: [Route], clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.init(RouteTable(routes), clock: clock, logger: logger)
    }

    /// Has the requests that begin from now on find their routes in another table.
    package func serve(_ table: RouteTable) { self.table.withLock { $0 = table } }

    private var current: RouteTable { table.withLock { $0 } }

    package func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? {
        current.cachedLookup(head)
    }

    package func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse? {
        guard let route = current.pendingHandler(head, peer, clock()) else { return nil }
        return PendingResponse(route: route.pattern) { reply in
            route.begin(PendingRoute.Completion(reply: reply, pattern: route.pattern, router: self))
        }
    }

    package func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        switch destination(of: request) {
        case .route(let match): match.plan { await self.respond($0, by: match).response }
        case .other(let plan): plan
        }
    }

    /// Where the server tells which methods there are, it means those of the resource, if there is one.
    package func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        let methods = methods(at: request.path ?? "")
        guard response.fields[.allow] != nil, !methods.isEmpty else { return response }
        var response = response
        response.fields[.allow] = methods.map(\.rawValue).joined(separator: ", ")
        return response
    }

    /// What a request is led to by its head.
    package enum Destination: Sendable {
        case route(RouteMatch)
        /// There is nothing at the path, or nothing that answers to the method: the plan says so.
        case other(HandlerResult)
    }

    package func destination(of request: HTTPRequest) -> Destination {
        let target = RequestPath(request.path ?? "")
        guard let resource = current.resource(at: target.path) else {
            return .other(.respond(Problem(.notFound, nil, "There is nothing here.").response))
        }
        guard let route = resource.route(request.method) else { return .other(Self.refuse(request.method, at: resource)) }
        return .route(RouteMatch(route: route, query: target.query, segments: resource.segments(of: target.path)))
    }

    /// The answer of the route that was found, and the problem that it tells, where it tells one.
    package func respond(_ request: ServerRequest, by match: RouteMatch) async -> (response: ServerResponse, problem: Problem?) {
        let fields = match.route.deprecation?.fields
        do {
            let request = try RouteRequest(request, match, now: clock())
            let response = try await match.route.handle(request)
            return (fields.map(response.adding) ?? response, nil)
        } catch {
            let problem = problem(error, on: match.route.pattern)
            return (fields.map(problem.response.adding) ?? problem.response, problem)
        }
    }

    fileprivate func problem(_ error: any Error, on pattern: String) -> Problem {
        let problem = Problem(error)
        if problem.status.kind == .serverError { failures.report(error, on: pattern, now: clock()) }
        return problem
    }

    /// The methods of a resource; empty where there is none.
    func methods(at path: String) -> [HTTPRequest.Method] {
        current.resource(at: RequestPath(path).path)?.methods ?? []
    }

    private static func refuse(_ method: HTTPRequest.Method, at resource: PathNode) -> HandlerResult {
        guard method == .options else { return .methodNotAllowed(resource.methods, route: resource.pattern) }
        let list = resource.methods.map(\.rawValue).joined(separator: ", ")
        return .respond(ServerResponse(status: .noContent, fields: [.allow: list]), route: resource.pattern)
    }
}

/// The route that a request was found to mean, with what its path and query say. Found before the body is read, and kept for the answer.
package struct RouteMatch: Sendable {
    let route: Route
    let query: Substring
    /// Still encoded.
    let segments: [(name: String, value: Substring)]

    /// - Parameter respond: makes the answer.
    package func plan(_ respond: @escaping HandlerResult.Responder) -> HandlerResult {
        .accept(
            bodyLimit: route.bodyLimit, streamsBody: route.streamsBody, cancelsOnPeerClose: route.cancelsOnPeerClose,
            timeLimit: route.timeLimit, route: route.pattern, respond: respond)
    }
}

/// The answer of a route that is brought later, without a task; what its maker throws becomes a problem, as of any route.
package struct PendingRoute: Sendable {
    /// Brings the answer: to be called once, from any thread.
    package struct Completion: Sendable {
        fileprivate let reply: PendingResponse.Reply
        fileprivate let pattern: String
        fileprivate let router: Router

        /// - Parameter make: makes the answer, on the event loop.
        package func callAsFunction(_ make: @escaping @Sendable () throws -> ServerResponse) {
            reply { [pattern, router] in
                do { return try make() } catch { return router.problem(error, on: pattern).response }
            }
        }

        /// What is finished already, or failed.
        package func callAsFunction(_ finished: Result<EncodedResponse, any Error>) {
            reply { [pattern, router] in
                switch finished {
                case .success(let finished): ServerResponse(finished)
                case .failure(let error): router.problem(error, on: pattern).response
                }
            }
        }
    }

    package let pattern: String
    /// Called once, on the loop. What it gives calls the work off.
    package let begin: @Sendable (Completion) -> PendingResponse.Cancel?

    package init(pattern: String, begin: @escaping @Sendable (Completion) -> PendingResponse.Cancel?) {
        self.pattern = pattern
        self.begin = begin
    }
}

/// Logs what requests fail for: the first failure of a kind at once, and those that follow it as a number, once a minute. A disk that is
/// full, or a database that is gone, fails every request, and a line for each would fill the disk that the log is on.
private final class ErrorLogThrottle: Sendable {
    private struct Kind {
        /// Milliseconds since 1970-01-01 UTC.
        var lastReported: Int64
        /// Failures since then.
        var count = 0
    }

    private static let pause: Int64 = 60_000
    /// Beyond so many, all are forgotten and told anew.
    private static let kindLimit = 64

    private let logger: Logger
    private let kinds = Mutex<[String: Kind]>([:])

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func report(_ error: any Error, on pattern: String, now: Int64) {
        let text = "\(error)"
        let repeated: Int? = kinds.withLock { kinds in
            if let kind = kinds[text], abs(now.subtractingReportingOverflow(kind.lastReported).partialValue) < Self.pause {
                kinds[text]?.count += 1
                return nil
            }
            let count = kinds[text]?.count ?? 0
            if kinds.count >= Self.kindLimit { kinds = [:] }
            kinds[text] = Kind(lastReported: now)
            return count
        }
        guard let repeated else { return }
        var metadata: Logger.Metadata = ["route": "\(pattern)", "error": "\(text)"]
        if repeated > 0 { metadata["since-the-last-line"] = "\(repeated)" }
        logger.error("request failed", metadata: metadata)
    }
}
