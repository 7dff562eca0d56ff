public import HTTPTypes

/// A handler's decision about a request whose head has been read and whose body has not.
public struct HandlerResult: Sendable {
    /// The ways to answer a request, the cheapest first.
    public enum Kind: Sendable {
        /// An encoded response, which is sent without an allocation.
        case cached(EncodedResponse)
        /// A response that was computed on the loop.
        case respond(ServerResponse)
        /// A response that a promise delivers later. It occupies no task.
        case pending(PendingStart)
        /// A response that a task produces, with the request's body.
        case task(RequestTask)
    }

    /// Starts the work for a promise. Returns a closure that cancels it if the response is no longer needed, or nil.
    ///
    /// The server calls both on the loop: they must be fast and must not block. The cancellation is called at most once; the promise may
    /// still be completed afterwards.
    public typealias PendingStart = @Sendable (ResponsePromise) -> CancellationHandler?

    /// Cancels the work for a promise.
    public typealias CancellationHandler = @Sendable () -> Void

    /// Returns the response to a request whose promise or task has failed.
    public typealias ErrorHandler = @Sendable (any Error, RequestID) -> ServerResponse

    /// The way in which the request is answered.
    public internal(set) var kind: Kind
    /// The name of the route, for logs and metrics, which never contain the path.
    public let route: String?
    /// Fields that are added to the response, or to the server's refusal of the request.
    public private(set) var fields: EncodedFields?
    let onError: ErrorHandler

    private init(_ kind: Kind, route: String?, onError: @escaping ErrorHandler = { _, _ in Self.internalError }) {
        (self.kind, self.route, self.onError) = (kind, route, onError)
    }

    /// Answers with an encoded response. A body of the request is discarded, or the connection is closed if the body is large.
    ///
    /// ```swift
    /// let hello = EncodedResponse(ServerResponse(body: "Hello"), route: "hello")
    /// let result = HandlerResult.cached(hello)
    /// ```
    public static func cached(_ response: EncodedResponse) -> HandlerResult { HandlerResult(.cached(response), route: response.route) }

    /// Answers at once. A body of the request is discarded, or the connection is closed if the body is large.
    ///
    /// ```swift
    /// let response = ServerResponse(fields: [.cacheControl: "no-store"], body: "Hello")
    /// let result = HandlerResult.respond(response, route: "hello")
    /// ```
    public static func respond(_ response: ServerResponse, route: String? = nil) -> HandlerResult {
        HandlerResult(.respond(response), route: route)
    }

    /// Answers when a promise is completed. If it never is, the server answers 503 when the request times out.
    ///
    /// ```swift
    /// let result = HandlerResult.pending(route: "hello", start: { promise in
    ///     let task = Task { promise.complete { .response(ServerResponse(body: "Hello")) } }
    ///     return { task.cancel() }
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - route: The name of the route in logs and metrics.
    ///   - onError: Returns the response for an error of the promise; the default is 500.
    ///   - start: Called once, after the body of the request, which is ignored.
    public static func pending(
        route: String? = nil, onError: ErrorHandler? = nil, start: @escaping PendingStart
    ) -> HandlerResult {
        HandlerResult(.pending(start), route: route, onError: onError ?? { _, _ in internalError })
    }

    /// Answers with the response of a task.
    ///
    /// ```swift
    /// let task = RequestTask(bodyLimit: 1_024) { request in
    ///     .response(ServerResponse(body: "\(request.body.bytes?.count ?? 0) bytes"))
    /// }
    /// let result = HandlerResult.task(task, route: "count")
    /// ```
    ///
    /// - Parameters:
    ///   - route: The name of the route in logs and metrics.
    ///   - onError: Returns the response for an error of the task; the default is 500.
    public static func task(_ task: RequestTask, route: String? = nil, onError: ErrorHandler? = nil) -> HandlerResult {
        HandlerResult(.task(task), route: route, onError: onError ?? { _, _ in internalError })
    }

    /// Answers 404 with problem details.
    public static func notFound(_ detail: String = "No resource at this path.") -> HandlerResult {
        .respond(Problem(.notFound, nil, detail).refusal())
    }

    /// Answers 405 with the Allow field.
    ///
    /// ```swift
    /// let result = HandlerResult.methodNotAllowed([.get, .head])
    /// result.response?.fields[.allow]  // "GET, HEAD"
    /// ```
    public static func methodNotAllowed(_ allowed: [HTTPRequest.Method], route: String? = nil) -> HandlerResult {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return .respond(Problem(.methodNotAllowed, nil, "Allowed methods: \(list).", fields: [.allow: list]).refusal(), route: route)
    }

    /// Returns this result with fields that are added to its response. An encoded response stays encoded.
    ///
    /// ```swift
    /// let fields = EncodedFields([.accessControlAllowOrigin: "*"])
    /// let result = HandlerResult.notFound().adding(fields)
    /// ```
    public consuming func adding(_ fields: EncodedFields) -> HandlerResult {
        var result = self
        result.fields = result.fields.map { $0 + fields } ?? fields
        return result
    }

    /// The response if the result is ``Kind/respond(_:)``, otherwise nil.
    public var response: ServerResponse? { if case .respond(let response) = kind { response } else { nil } }

    private static var internalError: ServerResponse {
        Problem(.internalServerError, nil, "An internal error occurred.").refusal()
    }
}

/// A task that produces a response, and its limits.
public struct RequestTask: Sendable {
    /// Produces a response, off the loop. The surrounding task is cancelled if the client disconnects or the request times out.
    public typealias Responder = @Sendable (ServerRequest) async throws -> HandlerResponse

    /// The maximum number of body bytes; nil for the configuration's default (64 KiB). A longer body is refused with 413.
    public var bodyLimit: Int?
    /// True to start the task at once and pass the body on as it arrives. If false, the body is collected first.
    public var streamsBody: Bool
    /// True to cancel the task and close the connection when the client closes its sending side. If false, only a disconnected client cancels it, and a client that
    /// half-closes still receives its response.
    public var cancelsOnPeerClose: Bool
    /// The time limit until the response; nil for the configuration's default.
    public var timeLimit: Duration?
    /// The authenticated sender of the request; nil if it is not known. ``RefusedRequest`` names it.
    public var sender: String?
    /// Produces the response.
    public var respond: Responder

    /// Creates a task with its limits.
    ///
    /// ```swift
    /// let task = RequestTask(streamsBody: true, timeLimit: .seconds(60)) { request in
    ///     var count = 0
    ///     for try await chunk in request.body { count += chunk.count }
    ///     return .response(ServerResponse(body: "\(count) bytes"))
    /// }
    /// ```
    public init(
        bodyLimit: Int? = nil, streamsBody: Bool = false, cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil,
        respond: @escaping Responder
    ) {
        (self.bodyLimit, self.streamsBody, self.cancelsOnPeerClose) = (bodyLimit, streamsBody, cancelsOnPeerClose)
        (self.timeLimit, self.respond) = (timeLimit, respond)
    }
}

/// A response of a task or a promise: one that the server encodes, or an encoded one, which is sent as it is.
public enum HandlerResponse: Sendable {
    /// A response that the server encodes.
    case response(ServerResponse)
    /// An encoded response.
    case encoded(EncodedResponse)

    /// The response in a form that can be read and changed. An encoded response is decoded.
    ///
    /// ```swift
    /// let response = HandlerResponse.encoded(EncodedResponse(ServerResponse(body: "Hello")))
    /// response.decoded.status  // 200
    /// ```
    public var decoded: ServerResponse {
        switch self {
        case .response(let response): response
        case .encoded(let encoded): ServerResponse(decoding: encoded)
        }
    }
}
