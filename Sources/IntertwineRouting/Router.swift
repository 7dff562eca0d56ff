internal import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwinePrimitives
package import Logging
internal import Synchronization

/// Matches a request with its route, once, and asks the route for its answer. It does not depend on the contents of routes.
///
/// Why a class: the error handler of each request retains it.
package final class Router: HTTPHandler {
    private let table: Mutex<RouteTable>
    private let acceptsOnlyJSON: Bool
    private let clock: @Sendable () -> Int64
    private let failures: ErrorLogThrottle

    /// Creates a router.
    ///
    /// - Parameters:
    ///   - routes: The routes, until ``update(_:)`` replaces them.
    ///   - acceptsOnlyJSON: True if described routes refuse bodies of other media types (415).
    ///   - clock: Returns milliseconds since 1970-01-01 UTC.
    package init(_ routes: [Route], acceptsOnlyJSON: Bool = false, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        table = Mutex(RouteTable(routes))
        (self.acceptsOnlyJSON, self.clock) = (acceptsOnlyJSON, clock)
        failures = ErrorLogThrottle(logger)
    }

    /// Replaces the route table for requests that begin from now on.
    package func update(_ table: RouteTable) { self.table.withLock { $0 = table } }

    package func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        let table = table.withLock { $0 }
        let (resource, isEscaped) = table.resource(for: head)
        if let refusal = head.refusal { return .respond(Self.refusal(refusal, at: resource)) }
        guard let resource else { return .respond(Problem(.notFound, nil, "No resource at this path.").response()) }
        guard let route = resource.route(head.method) else {
            guard head.method == .options else { return .methodNotAllowed(resource.methods, route: resource.pattern) }
            return .respond(ServerResponse(status: .noContent, fields: [.allow: resource.allow]), route: resource.pattern)
        }
        if acceptsOnlyJSON, route.declaration.operation != nil, !JSONBody.isOnly(in: head) {
            return .respond(JSONBody.problem.response(), route: resource.pattern)
        }
        guard let deprecation = route.deprecation else { return answer(head, peer, by: route, at: resource, isEscaped: isEscaped) }
        return answer(head, peer, by: route, at: resource, isEscaped: isEscaped).adding(deprecation)
    }

    /// Asks the route, in the order of the cost of its answers.
    private func answer(
        _ head: borrowing RequestHead, _ peer: PeerAddress, by route: ServedRoute, at resource: Resource, isEscaped: Bool
    ) -> HandlerResult {
        let pattern = resource.pattern
        if !head.hasBody {
            let match = RouteMatch(resource: resource, peer: peer, now: clock())
            if let lookup = route.declaration.cached, let response = lookup(head, match) { return .cached(response) }
            if !isEscaped, let begin = route.declaration.pending, let start = begin(head, match) {
                return .pending(route: pattern, onError: errorHandler(on: pattern), start: start)
            }
        }
        let declaration = route.declaration
        let task = RequestTask(
            bodyLimit: declaration.bodyLimit, streamsBody: declaration.streamsBody, cancelsOnPeerClose: declaration.cancelsOnPeerClose,
            timeLimit: declaration.timeLimit
        ) { [clock] request in
            try await route.declaration.handle(RouteRequest(request, route.declaration, at: resource, now: clock()))
        }
        return .task(task, route: pattern, onError: errorHandler(on: pattern))
    }

    private func errorHandler(on pattern: String) -> HandlerResult.ErrorHandler {
        { [self] error, id in response(to: error, on: pattern, id) }
    }

    private func response(to error: any Error, on pattern: String, _ id: RequestID) -> ServerResponse {
        let problem = Problem(error)
        if problem.status.kind == .serverError { failures.report(error, on: pattern, now: clock()) }
        return problem.response(to: id)
    }

    /// Replaces the server's list of methods in `Allow` with the methods of the resource, if it exists.
    private static func refusal(_ refusal: ServerResponse, at resource: Resource?) -> ServerResponse {
        guard let resource, refusal.fields[.allow] != nil else { return refusal }
        var response = refusal
        response.fields[.allow] = resource.allow
        return response
    }
}

/// Validation of the media type of request bodies.
private enum JSONBody {
    static let problem = Problem(
        .unsupportedMediaType, nil, "Request bodies must be application/json.", fields: [.accept: RequestBodyDescription.json])

    /// Returns true if the request only reads, has no body, or has a JSON body. A body without a media type is refused.
    static func isOnly(in head: borrowing RequestHead) -> Bool {
        if head.isSafe { return true }
        return head.withField("content-type") { isJSON($0) } ?? !head.hasBody
    }

    private static func isJSON(_ type: Span<UInt8>) -> Bool {
        let type = String(decoding: type)
        return type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased() == RequestBodyDescription.json
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
