/// The body of a request: all of it where the plan asked for that, otherwise chunks as they arrive.
///
/// Iterated by one consumer, once. While it does not ask, the server stops reading from the connection.
public struct RequestBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    enum Storage: Sendable {
        case collected([UInt8], BodyShare?)
        case streamed(RequestBodyStream)
    }

    let storage: Storage

    /// The bytes of a body that was read as a whole; nil for a streamed one.
    public var bytes: [UInt8]? {
        if case .collected(let bytes, _) = storage { bytes } else { nil }
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var storage: Storage

        public mutating func next() async throws -> [UInt8]? {
            switch storage {
            case .collected(let bytes, let share):
                storage = .collected([], share)
                return bytes.isEmpty ? nil : bytes
            case .streamed(let stream):
                return try await stream.next()
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(storage: storage) }
}
