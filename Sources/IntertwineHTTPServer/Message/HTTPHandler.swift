public import HTTPTypes

/// What answers requests. The server has done everything that is HTTP's own: framing, limits, conditions, ranges, codings.
///
/// A handler has three faces, from the cheapest on, and a say where the server refuses. None of them may wait; what a plan has make the answer may.
public protocol HTTPHandler: Sendable {
    /// A finished answer, if there is one. Called on the loop for requests without a body, before anything is made of their bytes:
    /// it must neither wait nor take long. Nil sends the request on to ``deferred(for:peer:)``.
    func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse?

    /// An answer that is on its way already. Called on the loop for requests without a body, like ``finished(for:)``. Nil sends the request on
    /// to ``plan(for:peer:)``.
    func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse?

    /// Fields that a finished response to this request carries besides its own, from ``finished(for:)`` or ``deferred(for:peer:)``. Called on the
    /// loop: it must neither wait nor take long.
    func finishedFields(for head: borrowing RequestHead) -> EncodedFields?

    /// Where the request goes, decided once, before its body is read: the plan holds what makes the answer. Called on the loop: it must neither
    /// wait nor take long.
    func plan(for request: HTTPRequest, peer: PeerAddress) -> HandlerResult

    /// What the server says where it refuses a request by itself: for its method, an expectation, or a body that is coded or too long.
    /// A handler that lets only some through, or keeps a record, has its say here. Called on the loop: it must neither wait nor take long.
    func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse

    /// What the server's own refusals carry besides, where there is no whole request to ask ``refuse(_:peer:with:)`` about: it cannot be read,
    /// comes too slowly, or there is no room for it. Called on the loop: it must neither wait nor take long.
    ///
    /// - Parameter field: looks a field up, by its name in lower case, in what has come of the request.
    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields

    /// Told of each refusal of a request of which there is no whole head: its line or its fields are too long, or it is no HTTP. Called on
    /// the loop: it must neither wait nor take long.
    ///
    /// - Parameter method: nil where not even that was read.
    func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int)
}

extension HTTPHandler {
    public func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? { nil }

    public func pendingResponse(for head: borrowing RequestHead, peer: PeerAddress) -> PendingResponse? { nil }

    public func finishedFields(for head: borrowing RequestHead) -> EncodedFields? { nil }

    public func refuse(_ request: HTTPRequest, peer: PeerAddress, with response: ServerResponse) -> ServerResponse { response }

    public func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { [:] }

    public func refused(_ method: RequestMethod?, peer: PeerAddress, status: Int) {}
}

/// A request on its way to what its ``HandlerResult`` has make the answer.
public struct ServerRequest: Sendable {
    /// Method, path with query, authority and fields.
    public var head: HTTPRequest
    /// The body as its plan asked for it.
    public let body: RequestBody
    /// Who sent it.
    public let peer: PeerAddress
    /// What the answer names it by, and the log.
    public let id: RequestID

    init(head: HTTPRequest, body: RequestBody, peer: PeerAddress, id: RequestID) {
        self.head = head
        self.body = body
        self.peer = peer
        self.id = id
    }
}

/// What is to be done with a request whose head has been read and whose body has not.
public struct HandlerResult: Sendable {
    /// Makes an answer, off the loop. The surrounding task is cancelled when the client goes away or the time for the request is over.
    public typealias Responder = @Sendable (ServerRequest) async -> ServerResponse

    enum Decision: Sendable {
        case respond(ServerResponse)
        case accept(streamsBody: Bool, Responder)
    }

    var decision: Decision
    /// The most bytes of a body; nil stands for the server's default.
    let bodyLimit: Int?
    let cancelsOnPeerClose: Bool
    let timeLimit: Duration?
    /// The name of the route, for logs and metrics, which never see the path.
    let route: String?

    /// Read the body, then have the answer made.
    ///
    /// - Parameters:
    ///   - bodyLimit: the most bytes of a body; the configuration's default (64 KiB) where nil. A longer one is refused with 413.
    ///   - streamsBody: call it at once and give it the body as it arrives.
    ///   - cancelsOnPeerClose: cancel its task already when the client closes its sending side. Without it only a
    ///     connection that is gone altogether cancels, and a client that half-closes still gets its answer.
    ///   - timeLimit: its time until it answers; the configuration's where nil.
    ///   - route: the name of the route in observations.
    ///   - respond: makes the answer.
    public static func accept(
        bodyLimit: Int? = nil, streamsBody: Bool = false, cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil,
        route: String? = nil, respond: @escaping Responder
    ) -> HandlerResult {
        HandlerResult(
            decision: .accept(streamsBody: streamsBody, respond), bodyLimit: bodyLimit, cancelsOnPeerClose: cancelsOnPeerClose,
            timeLimit: timeLimit, route: route)
    }

    /// Answer at once. The body is thrown away, or the connection closed where that would be much.
    public static func respond(_ response: ServerResponse, route: String? = nil) -> HandlerResult {
        HandlerResult(
            decision: .respond(response), bodyLimit: nil, cancelsOnPeerClose: false, timeLimit: nil, route: route)
    }

    /// 404, as problem details.
    public static func notFound(_ detail: String = "There is nothing here.") -> HandlerResult {
        .respond(ProblemDetails(status: 404, detail: detail).response())
    }

    /// 405 with the Allow field.
    public static func methodNotAllowed(_ allowed: [HTTPRequest.Method], route: String? = nil) -> HandlerResult {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        let problem = ProblemDetails(status: 405, detail: "This resource allows \(list).")
        return .respond(problem.response(fields: [.allow: list]), route: route)
    }

    /// The same plan, with something around what makes its answer. A plan that is an answer already stays as it is.
    public func around(_ body: @escaping @Sendable (ServerRequest, @escaping Responder) async -> ServerResponse) -> HandlerResult {
        guard case .accept(let streamsBody, let respond) = decision else { return self }
        var plan = self
        plan.decision = .accept(streamsBody: streamsBody) { await body($0, respond) }
        return plan
    }

    /// The same plan; whatever it answers has more fields.
    public func adding(_ fields: HTTPFields) -> HandlerResult {
        guard case .respond(let response) = decision else { return around { await $1($0).adding(fields) } }
        return .respond(response.adding(fields), route: route)
    }

    /// The answer where it is one already; nil where it has to be made.
    package var response: ServerResponse? { if case .respond(let response) = decision { response } else { nil } }

    /// Answers a request in the way that the plan says.
    package func respond(to request: ServerRequest) async -> ServerResponse {
        switch decision {
        case .respond(let response): response
        case .accept(_, let respond): await respond(request)
        }
    }
}
