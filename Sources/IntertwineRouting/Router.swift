package import HTTPTypes
package import IntertwineHTTPServer
package import Logging
internal import Synchronization

/// Finds the route of a request once and calls it. It does not depend on the contents of routes.
///
/// Why a class: each pending response retains it.
package final class Router: HTTPHandler {
    /// Looks up a cached response for all routes by the bytes of the target, before the target is split to find a route.
    package typealias CachedLookup = @Sendable (borrowing RequestHead) -> EncodedResponse?
    /// Begins a pending response without a task, before an `HTTPRequest` is created: a task and a parsed head would cost more than all other
    /// work for a click. The last parameter is the time, in milliseconds since 1970-01-01 UTC.
    package typealias PendingHandler = @Sendable (borrowing RequestHead, PeerAddress, Int64) -> PendingRoute?

    private let table: Mutex<RouteTable>
    private let clock: @Sendable () -> Int64
    private let failures: ErrorLogThrottle

    /// Creates a router.
    ///
    /// - Parameters:
    ///   - table: The routes, until ``serve(_:)`` replaces them.
    ///   - clock: Returns milliseconds since 1970-01-01 UTC.
    package init(_ table: RouteTable, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.table = Mutex(table)
        self.clock = clock
        failures = ErrorLogThrottle(logger)
    }

    /// Creates a router with fixed routes.
    package convenience init(_ routes: [Route], clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.init(RouteTable(routes), clock: clock, logger: logger)
    }

    /// Replaces the route table for requests that begin from now on.
    package func serve(_ table: RouteTable) { self.table.withLock { $0 = table } }

    private var current: RouteTable { table.withLock { $0 } }

    package func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? {
        current.cachedLookup(head)
    }

    package func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse? {
        guard let route = current.pendingHandler(head, peer, clock()) else { return nil }
        let id = head.requestID
        return PendingResponse(route: route.pattern) { reply in
            route.begin(PendingRoute.Completion(reply: reply, pattern: route.pattern, request: id, router: self))
        }
    }

    package func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
        switch destination(of: request) {
        case .route(let match): match.plan { await self.respond($0, by: match).response }
        case .other(let plan): plan
        }
    }

    /// Replaces the server's list of methods in `Allow` with the methods of the resource, if it exists.
    package func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        let methods = methods(at: request.path ?? "")
        guard response.fields[.allow] != nil, !methods.isEmpty else { return response }
        var response = response
        response.fields[.allow] = methods.map(\.rawValue).joined(separator: ", ")
        return response
    }

    /// The destination of a request, determined from its head.
    package enum Destination: Sendable {
        case route(RouteMatch)
        /// The path or the method has no route; the plan holds the response.
        case other(HandlerResult)
    }

    package func destination(of request: HTTPRequest) -> Destination {
        let target = RequestPath(request.path ?? "")
        guard let resource = current.resource(at: target.path) else {
            return .other(.respond(Problem(.notFound, nil, "No resource at this path.").response()))
        }
        guard let route = resource.route(request.method) else { return .other(Self.refuse(request.method, at: resource)) }
        return .route(RouteMatch(route: route, query: target.query, segments: resource.segments(of: target.path)))
    }

    /// Returns the response of the matched route, and the problem if there is one.
    package func respond(_ request: ServerRequest, by match: RouteMatch) async -> (response: ServerResponse, problem: Problem?) {
        let fields = match.route.deprecation?.fields
        do {
            let request = try RouteRequest(request, match, now: clock())
            let response = try await match.route.handle(request)
            return (fields.map(response.adding) ?? response, nil)
        } catch {
            let problem = problem(error, on: match.route.pattern)
            let response = problem.response(to: request.id)
            return (fields.map(response.adding) ?? response, problem)
        }
    }

    fileprivate func problem(_ error: any Error, on pattern: String) -> Problem {
        let problem = Problem(error)
        if problem.status.kind == .serverError { failures.report(error, on: pattern, now: clock()) }
        return problem
    }

    /// Returns the methods of a resource; empty if it does not exist.
    func methods(at path: String) -> [HTTPRequest.Method] {
        current.resource(at: RequestPath(path).path)?.methods ?? []
    }

    private static func refuse(_ method: HTTPRequest.Method, at resource: PathNode) -> HandlerResult {
        guard method == .options else { return .methodNotAllowed(resource.methods, route: resource.pattern) }
        let list = resource.methods.map(\.rawValue).joined(separator: ", ")
        return .respond(ServerResponse(status: .noContent, fields: [.allow: list]), route: resource.pattern)
    }
}

/// The matched route of a request, with path parameters and query. It is found before the body is read and used for the response.
package struct RouteMatch: Sendable {
    let route: Route
    let query: Substring
    /// The path parameters, still encoded.
    let segments: [(name: String, value: Substring)]

    /// Returns the plan of the route.
    ///
    /// - Parameter respond: A closure that produces the response.
    package func plan(_ respond: @escaping HandlerResult.Responder) -> HandlerResult {
        .accept(
            bodyLimit: route.bodyLimit, streamsBody: route.streamsBody, cancelsOnPeerClose: route.cancelsOnPeerClose,
            timeLimit: route.timeLimit, route: route.pattern, respond: respond)
    }
}

/// A pending response of a route, without a task. An error of its closure becomes a problem, as for any route.
package struct PendingRoute: Sendable {
    /// Delivers the response. Called once, on any thread.
    package struct Completion: Sendable {
        fileprivate let reply: PendingResponse.Reply
        fileprivate let pattern: String
        fileprivate let request: RequestID
        fileprivate let router: Router

        /// Delivers a response that is produced on the event loop.
        ///
        /// - Parameter make: A closure that produces the response, on the event loop.
        package func callAsFunction(_ make: @escaping @Sendable () throws -> ServerResponse) {
            reply { [pattern, request, router] in
                do { return try make() } catch { return router.problem(error, on: pattern).response(to: request) }
            }
        }

        /// Delivers an encoded response or an error.
        package func callAsFunction(_ result: Result<EncodedResponse, any Error>) {
            reply { [pattern, request, router] in
                switch result {
                case .success(let result): ServerResponse(result)
                case .failure(let error): router.problem(error, on: pattern).response(to: request)
                }
            }
        }
    }

    package let pattern: String
    /// Begins the work and returns a closure that cancels it. Called once, on the loop.
    package let begin: @Sendable (Completion) -> PendingResponse.Cancel?

    package init(pattern: String, begin: @escaping @Sendable (Completion) -> PendingResponse.Cancel?) {
        self.pattern = pattern
        self.begin = begin
    }
}

/// Logs errors of requests: the first error of a kind at once, and the number of repetitions once a minute.
/// Why: a full disk or an unavailable database fails every request, and a line for each would fill the disk of the log.
private final class ErrorLogThrottle: Sendable {
    private struct Kind {
        /// The time of the last log line, in milliseconds since 1970-01-01 UTC.
        var lastReported: Int64
        /// The number of errors since the last log line.
        var count = 0
    }

    private static let pause: Int64 = 60_000
    /// The maximum number of kinds. Beyond it, all kinds are removed and logged again.
    private static let kindLimit = 64

    private let logger: Logger
    private let kinds = Mutex<[String: Kind]>([:])

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// Logs an error unless its kind was logged less than a minute ago.
    ///
    /// - Parameter now: Milliseconds since 1970-01-01 UTC.
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
