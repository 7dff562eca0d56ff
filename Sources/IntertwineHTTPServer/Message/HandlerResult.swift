public import HTTPTypes

/// A handler's decision about a request whose head has been read and whose body has not.
public struct HandlerResult: Sendable {
    package enum Kind: Sendable {
        case cached(EncodedResponse)
        case respond(ServerResponse)
        case pending(PendingStart)
        case task(RequestTask)
    }

    /// The server calls both on the loop: they must be fast and must not block.
    package typealias PendingStart = @Sendable (ResponsePromise) -> CancellationHandler?

    /// Cancels the work for a promise.
    public typealias CancellationHandler = @Sendable () -> Void

    package typealias ErrorHandler = @Sendable (any Error, RequestID) -> ServerResponse

    package internal(set) var kind: Kind
    /// The name of the route, for logs and metrics, which never contain the path.
    public let route: String?
    /// Fields that are added to the response, or to the server's refusal of the request.
    public private(set) var fields: EncodedFields?
    let onError: ErrorHandler

    private init(_ kind: Kind, route: String?, onError: @escaping ErrorHandler = { _, _ in Self.internalError }) {
        (self.kind, self.route, self.onError) = (kind, route, onError)
    }

    package static func cached(_ response: EncodedResponse) -> HandlerResult { HandlerResult(.cached(response), route: response.route) }

    /// Answers at once. A body of the request is discarded, or the connection is closed if the body is large.
    ///
    /// ```swift
    /// let response = ServerResponse(fields: [.cacheControl: "no-store"], body: "Hello")
    /// let result = HandlerResult.respond(response, route: "hello")
    /// ```
    public static func respond(_ response: ServerResponse, route: String? = nil) -> HandlerResult {
        HandlerResult(.respond(response), route: route)
    }

    /// If it never is, the server answers 503 when the request times out.
    package static func pending(
        route: String? = nil, onError: ErrorHandler? = nil, start: @escaping PendingStart
    ) -> HandlerResult {
        HandlerResult(.pending(start), route: route, onError: onError ?? { _, _ in internalError })
    }

    package static func task(_ task: RequestTask, route: String? = nil, onError: ErrorHandler? = nil) -> HandlerResult {
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

package struct RequestTask: Sendable {
    package typealias Responder = @Sendable (ServerRequest) async throws -> HandlerResponse

    package var bodyLimit: Int?
    package var streamsBody: Bool
    package var cancelsOnPeerClose: Bool
    package var timeLimit: Duration?
    package var sender: String?
    package var respond: Responder

    package init(
        bodyLimit: Int? = nil, streamsBody: Bool = false, cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil,
        respond: @escaping Responder
    ) {
        (self.bodyLimit, self.streamsBody, self.cancelsOnPeerClose) = (bodyLimit, streamsBody, cancelsOnPeerClose)
        (self.timeLimit, self.respond) = (timeLimit, respond)
    }
}

/// A response of a task or a promise: one that the server encodes, or an encoded one, which is sent as it is.
package enum HandlerResponse: Sendable {
    case response(ServerResponse)
    case encoded(EncodedResponse)

    package var decoded: ServerResponse {
        switch self {
        case .response(let response): response
        case .encoded(let encoded): ServerResponse(decoding: encoded)
        }
    }
}
