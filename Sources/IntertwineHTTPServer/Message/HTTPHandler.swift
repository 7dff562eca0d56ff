public import HTTPTypes

/// An application that answers requests. The server handles HTTP itself: framing, limits, conditions, ranges and codings.
///
/// The server asks a handler in three ways, the cheapest first: ``cachedResponse(for:)``, ``pendingResponse(for:peer:)`` and
/// ``plan(for:peer:)``. These methods must not block. The closure of a plan that produces the response may.
///
/// ```swift
/// struct Greeting: HTTPHandler {
///     func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult {
///         .respond(ServerResponse(status: .ok, body: Array("Hello".utf8)))
///     }
/// }
/// ```
public protocol HTTPHandler: Sendable {
    /// Returns an encoded response, if one exists. Called on the loop for requests without a body, before their head is converted to objects.
    /// It must be fast and must not block. Nil passes the request on to ``pendingResponse(for:peer:)``.
    func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse?

    /// Returns a response that is produced asynchronously without a task. Called on the loop for requests without a body, like
    /// ``cachedResponse(for:)``. Nil passes the request on to ``plan(for:peer:)``.
    func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse?

    /// Returns additional fields of an encoded response to this request, from ``cachedResponse(for:)`` or ``pendingResponse(for:peer:)``.
    /// Called on the loop: it must be fast and must not block.
    func cachedResponseFields(for head: borrowing RequestHead) -> EncodedFields?

    /// Returns additional fields of a response from ``pendingResponse(for:peer:)`` that is not encoded.
    /// Called on the loop: it must be fast and must not block.
    func pendingFields(for head: borrowing RequestHead) -> HTTPFields

    /// Decides once, before the body is read, how a request is answered. Called on the loop: it must be fast and must not block.
    func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult

    /// Returns the response to a request that the server refuses: for its method, an expectation, or a body that is coded or too long.
    /// A handler with access control or a log can change the response here. Called on the loop: it must be fast and must not block.
    func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse

    /// Returns additional fields of the server's refusals of requests for which ``refuse(_:peer:with:)`` cannot be called:
    /// the request is malformed, arrives too slowly, or exceeds the capacity. Called on the loop: it must be fast and must not block.
    ///
    /// - Parameter field: Returns a field of the received part of the request by its name in lower case.
    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields

    /// Receives each refusal of a request without a complete head: its line or fields are too long, or it is not HTTP.
    /// Called on the loop: it must be fast and must not block.
    ///
    /// - Parameter method: The method, nil if it was not read.
    func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int)
}

extension HTTPHandler {
    public func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? { nil }

    public func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse? { nil }

    public func cachedResponseFields(for head: borrowing RequestHead) -> EncodedFields? { nil }

    public func pendingFields(for head: borrowing RequestHead) -> HTTPFields { [:] }

    public func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse { response }

    public func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { [:] }

    public func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int) {}
}

/// A request as the closure of a ``HandlerResult`` receives it.
public struct ServerRequest: Sendable {
    /// The method, path with query, authority and fields.
    public var head: HTTPRequest
    /// The body, collected or streamed as the plan requested.
    public let body: RequestBody
    /// The address of the client's connection.
    public let peer: PeerAddress
    /// The request id in the response and the log.
    public let id: RequestID

    init(head: HTTPRequest, body: RequestBody, peer: PeerAddress, id: RequestID) {
        self.head = head
        self.body = body
        self.peer = peer
        self.id = id
    }
}

/// A handler's decision about a request whose head has been read and whose body has not.
public struct HandlerResult: Sendable {
    /// Produces a response, off the loop. The surrounding task is cancelled if the client disconnects or the request times out.
    public typealias Responder = @Sendable (ServerRequest) async -> ServerResponse

    enum Decision: Sendable {
        case respond(ServerResponse)
        case accept(streamsBody: Bool, Responder)
    }

    var decision: Decision
    /// The maximum number of body bytes; nil for the server's default.
    let bodyLimit: Int?
    let cancelsOnPeerClose: Bool
    let timeLimit: Duration?
    /// The name of the route, for logs and metrics, which never contain the path.
    let route: String?

    /// Reads the body, then calls the closure that produces the response.
    ///
    /// - Parameters:
    ///   - bodyLimit: The maximum number of body bytes; nil for the configuration's default (64 KiB). A longer body is refused with 413.
    ///   - streamsBody: True to call the closure at once and pass the body on as it arrives.
    ///   - cancelsOnPeerClose: True to cancel the task when the client closes its sending side. If false, only a
    ///     disconnected client cancels it, and a client that half-closes still receives its response.
    ///   - timeLimit: The time limit until the response; nil for the configuration's default.
    ///   - route: The name of the route in logs and metrics.
    ///   - respond: The closure that produces the response.
    public static func accept(
        bodyLimit: Int? = nil, streamsBody: Bool = false, cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil,
        route: String? = nil, respond: @escaping Responder
    ) -> HandlerResult {
        HandlerResult(
            decision: .accept(streamsBody: streamsBody, respond), bodyLimit: bodyLimit, cancelsOnPeerClose: cancelsOnPeerClose,
            timeLimit: timeLimit, route: route)
    }

    /// Answers at once. The body is discarded, or the connection is closed if the body is large.
    public static func respond(_ response: ServerResponse, route: String? = nil) -> HandlerResult {
        HandlerResult(
            decision: .respond(response), bodyLimit: nil, cancelsOnPeerClose: false, timeLimit: nil, route: route)
    }

    /// Answers 404 with problem details.
    public static func notFound(_ detail: String = "No resource at this path.") -> HandlerResult {
        .respond(ProblemDetails(status: 404, detail: detail).response())
    }

    /// Answers 405 with the Allow field.
    public static func methodNotAllowed(_ allowed: [HTTPRequest.Method], route: String? = nil) -> HandlerResult {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        let problem = ProblemDetails(status: 405, detail: "Allowed methods: \(list).")
        return .respond(problem.response(fields: [.allow: list]), route: route)
    }

    /// Returns this plan with a wrapper around the closure that produces the response. A plan that holds a response stays unchanged.
    public func around(_ body: @escaping @Sendable (ServerRequest, @escaping Responder) async -> ServerResponse) -> HandlerResult {
        guard case .accept(let streamsBody, let respond) = decision else { return self }
        var plan = self
        plan.decision = .accept(streamsBody: streamsBody) { await body($0, respond) }
        return plan
    }

    /// Returns this plan with fields that are added to its response.
    public func adding(_ fields: HTTPFields) -> HandlerResult {
        guard case .respond(let response) = decision else { return around { await $1($0).adding(fields) } }
        return .respond(response.adding(fields), route: route)
    }

    /// The response if the plan holds one, otherwise nil.
    package var response: ServerResponse? { if case .respond(let response) = decision { response } else { nil } }

    /// Answers a request according to the plan.
    package func respond(to request: ServerRequest) async -> ServerResponse {
        switch decision {
        case .respond(let response): response
        case .accept(_, let respond): await respond(request)
        }
    }
}
