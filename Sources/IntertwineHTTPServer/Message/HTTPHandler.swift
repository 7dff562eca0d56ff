public import HTTPTypes

/// An application that answers requests. The server handles HTTP itself: framing, limits, conditions, ranges and codings.
///
/// A middleware is a handler that calls another one and changes its result.
///
/// ```swift
/// struct Greeting: HTTPHandler {
///     func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
///         .respond(ServerResponse(status: .ok, body: Array("Hello".utf8)))
///     }
/// }
/// ```
public protocol HTTPHandler: Sendable {
    /// Decides how a request is answered, before its body is read. Called once per request, on the loop: it must be fast and must not block.
    ///
    /// If the server refuses the request (``RequestHead/refusal``), only a result of ``HandlerResult/respond(_:route:)`` replaces the
    /// refusal. The additional fields of any result are added to it.
    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult

    /// Returns additional fields of the server's refusals of requests without a complete head: the request is malformed, arrives too slowly, or
    /// exceeds the capacity. Called on the loop: it must be fast and must not block.
    ///
    /// ```swift
    /// func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields {
    ///     field("origin") == nil ? [:] : [.accessControlAllowOrigin: "*"]
    /// }
    /// ```
    ///
    /// - Parameter field: Returns a field of the received part of the request by its name in lower case.
    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields
}

extension HTTPHandler {
    /// Returns no fields.
    public func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields { [:] }
}

/// A request as a task receives it.
public struct ServerRequest: Sendable {
    /// The method, path with query, authority and fields.
    public var head: HTTPRequest
    /// The body, collected or streamed as the ``RequestTask`` states.
    public let body: RequestBody
    /// The address of the client's connection.
    public let peer: PeerAddress
    package let id: RequestID
}
