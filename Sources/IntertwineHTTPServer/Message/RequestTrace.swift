/// What a request is known by in logs.
public struct RequestTrace: Sendable, Hashable {
    /// Longer values are no names of anything.
    private static let limit = 128

    public let requestID: RequestID
    /// The value of `traceparent` (W3C Trace Context, level 1) as it was received: it is not checked.
    public let traceParent: String?

    init(_ head: borrowing RequestHead, name: RequestID.Name) {
        requestID = RequestID(name, in: head.bytes)
        traceParent = Self.value(of: "traceparent", in: head)
    }

    /// Of a request that could not be read.
    init(unread name: RequestID.Name) {
        requestID = RequestID(name, in: UnsafeBufferPointer(start: nil, count: 0))
        traceParent = nil
    }

    private static func value(of name: StaticString, in head: borrowing RequestHead) -> String? {
        let value = head.withField(name) { value -> String? in
            value.count > limit ? nil : value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
        return value ?? nil
    }
}
