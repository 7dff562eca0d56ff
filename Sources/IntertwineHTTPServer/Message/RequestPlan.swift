public import HTTPTypes

/// What is to be done with a request whose head has been read and whose body has not.
public struct RequestPlan: Sendable {
    /// Makes an answer, off the loop. The surrounding task is cancelled when the client goes away or the time for the request is over.
    public typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

    enum Decision: Sendable {
        case answer(ServerResponse)
        case accept(streamsBody: Bool, Respond)
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
        route: String? = nil, respond: @escaping Respond
    ) -> RequestPlan {
        RequestPlan(
            decision: .accept(streamsBody: streamsBody, respond), bodyLimit: bodyLimit, cancelsOnPeerClose: cancelsOnPeerClose,
            timeLimit: timeLimit, route: route)
    }

    /// Answer at once. The body is thrown away, or the connection closed where that would be much.
    public static func answer(_ response: ServerResponse, route: String? = nil) -> RequestPlan {
        RequestPlan(
            decision: .answer(response), bodyLimit: nil, cancelsOnPeerClose: false, timeLimit: nil, route: route)
    }

    /// 404, as problem details.
    public static func notFound(_ detail: String = "There is nothing here.") -> RequestPlan {
        .answer(ProblemDetails(status: 404, detail: detail).response())
    }

    /// 405 with the Allow field.
    public static func methodNotAllowed(_ allowed: [HTTPRequest.Method], route: String? = nil) -> RequestPlan {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        let problem = ProblemDetails(status: 405, detail: "This resource allows \(list).")
        return .answer(problem.response(fields: [.allow: list]), route: route)
    }

    /// The same plan, with something around what makes its answer. A plan that is an answer already stays as it is.
    public func around(_ body: @escaping @Sendable (ServerRequest, @escaping Respond) async -> ServerResponse) -> RequestPlan {
        guard case .accept(let streamsBody, let respond) = decision else { return self }
        var plan = self
        plan.decision = .accept(streamsBody: streamsBody) { await body($0, respond) }
        return plan
    }

    /// The same plan; whatever it answers has more fields.
    public func adding(_ fields: HTTPFields) -> RequestPlan {
        guard case .answer(let response) = decision else { return around { await $1($0).adding(fields) } }
        return .answer(response.adding(fields), route: route)
    }

    /// The answer where it is one already; nil where it has to be made.
    package var answer: ServerResponse? { if case .answer(let response) = decision { response } else { nil } }

    /// Answers a request in the way that the plan says.
    package func respond(to request: ServerRequest) async -> ServerResponse {
        switch decision {
        case .answer(let response): response
        case .accept(_, let respond): await respond(request)
        }
    }
}
