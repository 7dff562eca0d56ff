/// What a request says of itself for logs, as it was received: nothing here is checked.
public struct RequestTrace: Sendable, Hashable {
    /// Longer values are no names of anything.
    private static let limit = 128

    /// The value of `X-Request-ID`.
    public let requestID: String?
    /// The value of `traceparent` (W3C Trace Context, level 1).
    public let traceParent: String?

    init(_ head: borrowing RequestHead) {
        requestID = Self.value(of: "x-request-id", in: head)
        traceParent = Self.value(of: "traceparent", in: head)
    }

    private static func value(of name: StaticString, in head: borrowing RequestHead) -> String? {
        let value = head.withField(name) { value -> String? in
            value.count > limit ? nil : value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
        return value ?? nil
    }
}
