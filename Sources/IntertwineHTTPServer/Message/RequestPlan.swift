public import HTTPTypes

/// What is to be done with a request whose head has been read and whose body has not.
public struct RequestPlan: Sendable {
    enum Decision: Sendable {
        case answer(ServerResponse)
        case accept(streamsBody: Bool)
    }

    let decision: Decision
    /// The most bytes of a body; nil stands for the server's default.
    let bodyLimit: Int?
    let cancelsOnPeerClose: Bool
    let timeLimit: Duration?
    /// The name of the route, for logs and metrics, which never see the path.
    let route: String?

    /// Read the body, then call the handler.
    ///
    /// - Parameters:
    ///   - bodyLimit: the most bytes of a body; the configuration's default (64 KiB) where nil. A longer one is refused with 413.
    ///   - streamsBody: call the handler at once and give it the body as it arrives.
    ///   - cancelsOnPeerClose: cancel the handler's task already when the client closes its sending side. Without it only a
    ///     connection that is gone altogether cancels, and a client that half-closes still gets its answer.
    ///   - timeLimit: the handler's time until it answers; the configuration's where nil.
    ///   - route: the name of the route in observations.
    public static func accept(
        bodyLimit: Int? = nil, streamsBody: Bool = false, cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil,
        route: String? = nil
    ) -> RequestPlan {
        RequestPlan(
            decision: .accept(streamsBody: streamsBody), bodyLimit: bodyLimit, cancelsOnPeerClose: cancelsOnPeerClose, timeLimit: timeLimit,
            route: route)
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
}
