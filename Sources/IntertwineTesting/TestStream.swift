internal import Glibc
public import HTTPTypes
internal import IntertwineHTTPServer
internal import Synchronization

/// A response whose body is read line by line while it arrives.
///
/// ```swift
/// let stream = try await service.client.stream("/feed/changes?syncToken=\(token)")
/// for try await line in stream where line.hasPrefix("data:") { print(line) }
/// ```
public struct TestStream: AsyncSequence, Sendable {
    private final class Socket: Sendable {
        private let descriptor: Mutex<Int32?>

        init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

        func end() { descriptor.withLock { if let descriptor = $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

        func close() {
            descriptor.withLock { descriptor in
                if let open = descriptor { Glibc.close(open) }
                descriptor = nil
            }
        }
    }

    /// The HTTP status.
    public let status: Int
    /// The header fields.
    public let fields: HTTPFields
    private let lines: AsyncThrowingStream<String, any Error>

    /// Returns an iterator over the lines of the body, without their line feeds. The sequence fails if the connection ends early.
    public func makeAsyncIterator() -> AsyncThrowingStream<String, any Error>.Iterator { lines.makeAsyncIterator() }

    static func read(from descriptor: Int32, opened: (Result<TestStream, any Error>) -> Void) {
        let socket = Socket(descriptor)
        defer { socket.close() }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        func receive() throws {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { throw TestServiceError.noResponse }
            bytes += piece[..<count]
        }
        let head: (status: Int, fields: HTTPFields, end: Int)
        do {
            var found = try SocketExchange.head(in: bytes)
            while found == nil {
                try receive()
                found = try SocketExchange.head(in: bytes)
            }
            guard let found else { throw TestServiceError.noResponse }
            head = found
        } catch {
            opened(.failure(error))
            return
        }
        bytes.removeFirst(head.end)
        let (lines, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
        continuation.onTermination = { _ in socket.end() }
        opened(.success(TestStream(status: head.status, fields: head.fields, lines: lines)))
        let isChunked = head.fields[.transferEncoding] == "chunked"
        var decoder = ChunkedDecoder(extensionBytes: 0, trailerBytes: 1 << 14, trailerFields: 100)
        var line: [UInt8] = []
        do {
            while true {
                var isComplete = false
                var body = bytes
                if isChunked { (body, isComplete) = try decoder.bytes(in: bytes) }
                bytes = []
                for byte in body {
                    guard byte == UInt8(ascii: "\n") else {
                        line.append(byte)
                        continue
                    }
                    continuation.yield(String(decoding: line, as: UTF8.self))
                    line = []
                }
                guard !isComplete else { return continuation.finish() }
                try receive()
            }
        } catch {
            continuation.finish(throwing: error)
        }
    }
}

extension ChunkedDecoder {
    fileprivate mutating func bytes(in bytes: [UInt8]) throws -> (body: [UInt8], isComplete: Bool) {
        try bytes.withUnsafeBufferPointer { buffer in
            var (body, index) = ([UInt8](), 0)
            while true {
                switch try next(buffer, from: &index) {
                case .data(let range): body += buffer[range]
                case .end: return (body, true)
                case .needsMore: return (body, false)
                }
            }
        }
    }
}
