internal import HTTPTypes
internal import IntertwinePrimitives
package import Logging
internal import Synchronization

/// Matches a request with its route, once, and asks the route for its answer.
/// Why a class: the error handler of each request retains it.
package final class Router: HTTPHandler {
    private let table: Mutex<RouteTable>
    private let acceptsOnlyJSON: Bool
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let failures = ReportThrottle()

    package init(_ routes: [Route], acceptsOnlyJSON: Bool = false, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        table = Mutex(RouteTable(routes))
        (self.acceptsOnlyJSON, self.clock) = (acceptsOnlyJSON, clock)
        self.logger = logger
    }

    package func update(_ table: RouteTable) { self.table.withLock { $0 = table } }

    package func pattern(for head: borrowing RequestHead) -> String? { resource(for: head).resource?.pattern }

    fileprivate func resource(for head: borrowing RequestHead) -> (resource: Resource?, isEscaped: Bool) {
        table.withLock { $0 }.resource(for: head)
    }

    package func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        let (resource, isEscaped) = resource(for: head)
        if let refusal = head.refusal { return .respond(Self.refusal(refusal, at: resource)) }
        guard let resource else { return .respond(Problem(.notFound, nil, "No resource at this path.").response()) }
        guard let route = resource.route(head.method) else {
            guard head.method == .options else { return .methodNotAllowed(resource.methods, route: resource.pattern) }
            return .respond(ServerResponse(status: .noContent, fields: [.allow: resource.allow]), route: resource.pattern)
        }
        if head.framing.length != nil, isOfOtherType(head, route) {
            return .respond(Self.otherType.response(), route: resource.pattern)
        }
        if let around = route.declaration.around { return around(head, peer, MatchedRoute(router: self, resource: resource, route: route)) }
        return answer(head, peer, by: route, at: resource, isEscaped: isEscaped)
    }

    fileprivate func answer(
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
        // Whether a chunked body is empty is known at its end.
        let isOfOtherType = head.framing.length == nil && isOfOtherType(head, route)
        let task = RequestTask(
            bodyLimit: declaration.bodyLimit, streamsBody: declaration.streamsBody, cancelsOnPeerClose: declaration.cancelsOnPeerClose,
            timeLimit: declaration.timeLimit
        ) { [clock] request in
            if isOfOtherType, request.body.bytes?.isEmpty != true { throw Self.otherType }
            return try await route.declaration.handle(RouteRequest(request, route.declaration, at: resource, now: clock()))
        }
        return .task(task, route: pattern, onError: errorHandler(on: pattern))
    }

    private static let otherType = Problem(
        .unsupportedMediaType, nil, "Request bodies must be application/json.", fields: [.accept: RequestBodyDescription.json])

    private func isOfOtherType(_ head: borrowing RequestHead, _ route: ServedRoute) -> Bool {
        acceptsOnlyJSON && route.declaration.operation != nil && !head.isJSON
    }

    private func errorHandler(on pattern: String) -> HandlerResult.ErrorHandler {
        { [self] error, id in response(to: error, on: pattern, id) }
    }

    private func response(to error: any Error, on pattern: String, _ id: RequestID) -> ServerResponse {
        let problem = Problem(error)
        if problem.status.kind == .serverError { log(error, on: pattern) }
        return problem.response(to: id)
    }

    private func log(_ error: any Error, on pattern: String) {
        let text = "\(error)"
        guard let repeated = failures.repetitions(of: text, now: clock()) else { return }
        var metadata: Logger.Metadata = ["route": "\(pattern)", "error": "\(text)"]
        if repeated > 0 { metadata["since-the-last-line"] = "\(repeated)" }
        logger.error("request failed", metadata: metadata)
    }

    private static func refusal(_ refusal: ServerResponse, at resource: Resource?) -> ServerResponse {
        guard let resource, refusal.fields[.allow] != nil else { return refusal }
        var response = refusal
        response.fields[.allow] = resource.allow
        return response
    }
}

private struct MatchedRoute: HTTPHandler {
    let router: Router
    let resource: Resource
    let route: ServedRoute

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        let (found, isEscaped) = router.resource(for: head)
        // A middleware may pass on a request of another route.
        guard found === resource, resource.route(head.method) === route else { return router.handle(head, peer: peer) }
        return router.answer(head, peer, by: route, at: resource, isEscaped: isEscaped)
    }
}

extension RequestHead {
    fileprivate var isJSON: Bool {
        // Some clients state a type of a body that is empty.
        if isSafe || !hasBody { return true }
        return withField("content-type") { type in
            let type = String(decoding: type).prefix { $0 != ";" && $0 != " " && $0 != "\t" }
            return type.lowercased() == RequestBodyDescription.json
        } ?? false
    }
}
