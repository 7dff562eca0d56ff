/// A refusal of an action or a request, which the client receives as problem details (RFC 9457).
///
/// A command throws it to refuse the whole action: nothing is committed, whatever the ``FailurePolicy`` of its macro. Every other error of a
/// command is a failed step. A route throws it to refuse the request. A refused impression or click is treated like a failed one.
///
/// ```swift
/// func perform(in context: inout CommandContext) async throws {
///     guard try await votes.add(context.cell) else { throw Refusal(.conflict, "Already voted.") }
/// }
/// ```
public struct Refusal: Error, Sendable, Hashable {
    /// The HTTP status of a refusal.
    ///
    /// 401 is missing, because it requires a challenge (RFC 9110, section 15.5.2). Middleware responds with it and the field `WWW-Authenticate`.
    public enum Status: Int, Sendable, Hashable, CaseIterable {
        /// 400, for a request that the server cannot interpret (RFC 9110, section 15.5.1).
        case badRequest = 400
        /// 402, for an action that requires a payment (RFC 9110, section 15.5.3).
        case paymentRequired = 402
        /// 403, for an action that the viewer is not permitted to perform (RFC 9110, section 15.5.4).
        case forbidden = 403
        /// 404, for a missing object (RFC 9110, section 15.5.5).
        case notFound = 404
        /// 409, for an action that contradicts the current state, such as a second vote (RFC 9110, section 15.5.10).
        case conflict = 409
        /// 410, for an object that was removed permanently (RFC 9110, section 15.5.11).
        case gone = 410
        /// 422, for input that is well-formed and not acceptable (RFC 9110, section 15.5.21).
        case unprocessableContent = 422
        /// 429, for a client that exceeds its rate (RFC 6585, section 4).
        case tooManyRequests = 429
        /// 503, for a temporary failure of the server (RFC 9110, section 15.6.4).
        case serviceUnavailable = 503
    }

    /// The HTTP status of the response.
    public var status: Status
    /// The reason, a sentence that the client receives.
    public var detail: String
    /// The time after which the client may retry, in the field `Retry-After`; nil for no field.
    public var retryAfter: Duration?

    /// Creates a refusal, by default without the field `Retry-After`.
    ///
    /// ```swift
    /// let refusal = Refusal(.serviceUnavailable, "The vote cannot be counted now.", retryAfter: .seconds(30))
    /// let status = refusal.status.rawValue  // 503
    /// ```
    public init(_ status: Status, _ detail: String, retryAfter: Duration? = nil) {
        (self.status, self.detail, self.retryAfter) = (status, detail, retryAfter)
    }
}
