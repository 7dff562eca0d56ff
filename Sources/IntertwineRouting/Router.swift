package import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwinePrimitives
package import Logging
internal import Synchronization

/// Finds the route of a request and has it answered; knows nothing of what routes do.
package struct Router: HTTPHandler {
    /// Looks up an answer that is ready, before anything is made of the request's bytes.
    package typealias Finished = @Sendable (borrowing RequestHead) -> FinishedResponse?
    /// Has an answer begun that no task waits for. The last is the time, in milliseconds since 1970-01-01 UTC.
    package typealias Deferred = @Sendable (borrowing RequestHead, PeerAddress, Int64) -> DeferredRoute?

    private let table: RouteTable
    private let clock: @Sendable () -> Int64
    private let failures: FailureLog

    /// - Parameters:
    ///   - clock: milliseconds since 1970-01-01 UTC.
    package init(_ routes: [Route], finished: @escaping Finished = { _ in nil }, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.init(RouteTable(routes, finished: finished), clock: clock, logger: logger)
    }

    /// - Parameter table: looked up anew for each request.
    package init(_ table: RouteTable, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        self.table = table
        self.clock = clock
        failures = FailureLog(logger)
    }

    package func finished(for head: borrowing RequestHead) -> FinishedResponse? {
        table.finished(head)
    }

    package func deferred(for head: borrowing RequestHead, peer: PeerAddress) -> DeferredAnswer? {
        guard let route = table.deferred(head, peer, clock()) else { return nil }
        return DeferredAnswer(route: route.pattern) { reply in
            route.begin { make in
                reply {
                    do { return try make() } catch { return problem(error, on: route.pattern).response }
                }
            }
        }
    }

    package func plan(for request: HTTPRequest, peer: PeerAddress) -> RequestPlan {
        guard let resource = table.resource(at: Target(request.path ?? "").path) else {
            return .answer(Problem(.notFound, nil, "There is nothing here.").response)
        }
        guard let route = resource.route(request.method.routed) else { return refuse(request.method, at: resource) }
        return .accept(
            bodyLimit: route.bodyLimit, streamsBody: route.streamsBody, cancelsOnPeerClose: route.cancelsOnPeerClose,
            timeLimit: route.timeLimit, route: route.pattern)
    }

    /// Where the server tells which methods there are, it means those of the resource, if there is one.
    package func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse {
        let methods = methods(at: request.path ?? "")
        guard response.fields[.allow] != nil, !methods.isEmpty else { return response }
        var response = response
        response.fields[.allow] = methods.map(\.rawValue).joined(separator: ", ")
        return response
    }

    package func respond(to request: ServerRequest) async -> ServerResponse {
        await answer(to: request).response
    }

    /// The answer, and the problem that it tells, where it tells one.
    package func answer(to request: ServerRequest) async -> (response: ServerResponse, problem: Problem?) {
        let target = Target(request.head.path ?? "")
        guard let resource = table.resource(at: target.path), let route = resource.route(request.head.method.routed) else {
            let problem = Problem(.notFound, nil, "There is nothing here.")
            return (problem.response, problem)
        }
        do {
            let request = try RouteRequest(
                request, query: target.query, segments: resource.segments(of: target.path), of: route, now: clock())
            return (try await route.handle(request), nil)
        } catch {
            let problem = problem(error, on: route.pattern)
            return (problem.response, problem)
        }
    }

    private func problem(_ error: any Error, on pattern: String) -> Problem {
        let problem = Problem(error)
        if problem.status.kind == .serverError { failures.tell(error, on: pattern, now: clock()) }
        return problem
    }

    /// The methods of a resource; empty where there is none.
    package func methods(at path: String) -> [HTTPRequest.Method] {
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

/// The answer of a route that is brought later, without a task; what its maker throws becomes a problem, as of any route.
package struct DeferredRoute: Sendable {
    package typealias Make = @Sendable () throws -> ServerResponse
    package typealias Reply = @Sendable (@escaping Make) -> Void

    package let pattern: String
    /// Called once, on the loop; calls what it is given once, from any thread.
    package let begin: @Sendable (@escaping Reply) -> Void

    package init(pattern: String, begin: @escaping @Sendable (@escaping Reply) -> Void) {
        self.pattern = pattern
        self.begin = begin
    }
}

/// The routes in force. Replaced as a whole when the configuration changes: a request that is being answered goes on with those it found.
package final class RouteTable: Sendable {
    /// A class, because a closure that a generic type hands out is wrapped anew each time, on the heap.
    private final class Entry: Sendable {
        /// By the number of segments of their paths.
        let resources: [Int: [Resource]]
        let finished: Router.Finished
        let deferred: Router.Deferred

        init(_ routes: [Route], _ finished: @escaping Router.Finished, _ deferred: @escaping Router.Deferred) {
            resources = Dictionary(grouping: Resource.all(routes), by: \.length)
            self.finished = finished
            self.deferred = deferred
        }
    }

    private let entry: Mutex<Entry>

    package init(
        _ routes: [Route], finished: @escaping Router.Finished = { _ in nil }, deferred: @escaping Router.Deferred = { _, _, _ in nil }
    ) {
        entry = Mutex(Entry(routes, finished, deferred))
    }

    package func replace(_ routes: [Route], finished: @escaping Router.Finished, deferred: @escaping Router.Deferred) {
        let next = Entry(routes, finished, deferred)
        entry.withLock { $0 = next }
    }

    /// The resource that a path means, or nil where there is none.
    fileprivate func resource(at path: [Substring]) -> Resource? {
        entry.withLock { $0 }.resources[path.count]?.first { $0.matches(path) }
    }

    fileprivate var finished: Router.Finished { entry.withLock { $0 }.finished }

    fileprivate var deferred: Router.Deferred { entry.withLock { $0 }.deferred }
}

/// The routes of one pattern of paths. A class: looking for the one that a request means copies nothing.
private final class Resource: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case parameter(name: String, suffix: String)

        init(_ text: Substring) {
            guard text.hasPrefix("{"), let end = text.firstIndex(of: "}") else {
                self = .literal(String(text))
                return
            }
            self = .parameter(name: String(text[..<end].dropFirst()), suffix: String(text[end...].dropFirst()))
        }

        /// A longer suffix says more.
        var weight: Int {
            switch self {
            case .literal: 2
            case .parameter(_, let suffix): suffix.isEmpty ? 0 : 1
            }
        }
    }

    let routes: [Route]
    private let segments: [Segment]

    private init(_ routes: [Route], of first: Route) {
        self.routes = routes
        // As requests are taken apart: the path `/` is one empty segment.
        segments = first.pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Segment.init)
    }

    /// The resources of routes; those with the most literal segments first, for where several match, that one is meant.
    static func all(_ routes: [Route]) -> [Resource] {
        var patterns: [String] = []
        for route in routes where !patterns.contains(route.pattern) { patterns.append(route.pattern) }
        let resources = patterns.compactMap { pattern in
            let own = routes.filter { $0.pattern == pattern }
            return own.first.map { Resource(own, of: $0) }
        }
        return resources.sorted { $0.weight > $1.weight }
    }

    private var weight: Int { segments.reduce(0) { $0 + $1.weight } }

    /// How many segments its paths have.
    var length: Int { segments.count }

    var pattern: String { routes.first?.pattern ?? "" }

    func matches(_ path: [Substring]) -> Bool {
        guard path.count == segments.count else { return false }
        for index in path.indices {
            switch segments[index] {
            case .literal(let literal): guard path[index] == literal else { return false }
            case .parameter(_, let suffix):
                guard path[index].utf8.count > suffix.utf8.count, suffix.isEmpty || path[index].hasSuffix(suffix) else { return false }
            }
        }
        return true
    }

    /// The parameters of a path that matches, still encoded.
    func segments(of path: [Substring]) -> [(name: String, value: Substring)] {
        zip(segments, path).compactMap { segment, text in
            guard case .parameter(let name, let suffix) = segment else { return nil }
            return (name, suffix.isEmpty ? text : text.dropLast(suffix.count))
        }
    }

    func route(_ method: HTTPRequest.Method) -> Route? {
        routes.first { $0.method == method }
    }
}

/// The path and query of a request, taken apart but not decoded: `%2F` is no separator. Only `%66eed` is `feed`.
package struct Target {
    package let path: [Substring]
    package let query: Substring

    package init(_ text: String) {
        // Bytes are taken for bytes: what a person reads as one character is none of HTTP's business.
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = PercentCoding.normalised(text[..<end]).utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { Substring($0) }
        query = end == text.endIndex ? "" : text[text.utf8.index(after: end)...]
    }
}

extension HTTPRequest.Method {
    /// HEAD is answered by GET's route; the server leaves the body out.
    fileprivate var routed: HTTPRequest.Method { self == .head ? .get : self }
}
