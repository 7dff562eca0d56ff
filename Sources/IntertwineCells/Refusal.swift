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
    public enum Status: Int, Sendable, Hashable, CaseIterable {
        case badRequest = 400
        case paymentRequired = 402
        case forbidden = 403
        case notFound = 404
        case conflict = 409
        case gone = 410
        case unprocessableContent = 422
        case tooManyRequests = 429
        case serviceUnavailable = 503
    }

    public var status: Status
    /// The reason, a sentence that the client receives.
    public var detail: String
    /// The time after which the client may retry, in the field `Retry-After`; nil for no field.
    public var retryAfter: Duration?

    public init(_ status: Status, _ detail: String, retryAfter: Duration? = nil) {
        (self.status, self.detail, self.retryAfter) = (status, detail, retryAfter)
    }
}
