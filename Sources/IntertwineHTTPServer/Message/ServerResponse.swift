public import HTTPTypes

/// A response of a handler. The server adds Date, Content-Length or the chunked coding, Connection, Vary, and the fields of
/// conditions, ranges and codings. Fields of these kinds in ``fields`` are left out.
///
/// ```swift
/// var response = ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array("Hello".utf8))
/// response.entityTag = "\"a1\""
/// response.isCompressible = true
/// ```
public struct ServerResponse: Sendable {
    enum Body: Sendable {
        case content(ResponseBody)
        case stream(length: Int?, produce: @Sendable (ResponseWriter) async throws -> Void)
        case events(@Sendable (EventStream) -> Void)
    }

    /// The status.
    public var status: HTTPResponse.Status
    /// The header fields. The server adds `Date`, `Content-Length` and those of the connection.
    public var fields: HTTPFields
    /// The entity tag with its quotes, for conditional requests.
    public var entityTag: String?
    /// The time of the last modification, in seconds since 1970-01-01 UTC.
    public var lastModified: Int64?
    /// True if single ranges of the content may be requested (RFC 9110, 14).
    public var acceptsRanges = false
    /// True if content of 1 KiB and more may be sent in gzip coding to clients that accept it.
    public var isCompressible = false
    /// True if the connection closes after this response.
    public var closesConnection = false
    var body: Body

    /// Creates a response with bytes.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        (self.status, self.fields, self.body) = (status, fields, .content(.bytes(body)))
    }

    /// It is never compressed.
    package init(status: HTTPResponse.Status, fields: HTTPFields = [:], file: FileBody) {
        (self.status, self.fields, self.body) = (status, fields, .content(.file(file)))
    }

    /// Creates a response whose body is written as it is produced.
    ///
    /// ```swift
    /// let response = ServerResponse(status: .ok, length: 10, stream: { writer in
    ///     for _ in 0..<5 { try await writer.write(Array("ab".utf8)) }
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - length: The exact number of bytes; nil for the chunked coding (for HTTP/1.0 clients: the end of the connection).
    ///   - produce: A closure that writes the body, in the handler's task. If it throws, the connection is reset, so that the client
    ///     does not treat the part as complete. Not called for HEAD.
    public init(
        status: HTTPResponse.Status, fields: HTTPFields = [:], length: Int? = nil,
        stream produce: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) {
        (self.status, self.fields, self.body) = (status, fields, .stream(length: length, produce: produce))
    }

    /// `attach`: Receives the stream after its head is sent, on the event loop: it must be fast and must not block.
    package init(status: HTTPResponse.Status, fields: HTTPFields = [:], pushing attach: @escaping @Sendable (EventStream) -> Void) {
        (self.status, self.fields, self.body) = (status, fields, .events(attach))
    }

    /// Returns this response with additional fields. A field that exists with an equal value is not added again.
    ///
    /// ```swift
    /// let response = ServerResponse(body: "Hello").adding([.cacheControl: "no-store"])
    /// response.fields[.cacheControl]  // "no-store"
    /// ```
    public func adding(_ fields: HTTPFields) -> ServerResponse {
        var response = self
        for field in fields where !response.fields[fields: field.name].contains(where: { $0.value == field.value }) {
            response.fields.append(field)
        }
        return response
    }
}

/// Writes the body of a streamed response.
public struct ResponseWriter: Sendable {
    private enum Destination: Sendable {
        case exchange(Exchange)
        case memory(BodyCollector)
    }

    private let destination: Destination

    init(_ exchange: Exchange) {
        destination = .exchange(exchange)
    }

    init(_ collector: BodyCollector) {
        destination = .memory(collector)
    }

    /// Sends bytes. Returns when more may be written: at once while fewer bytes are queued than the output high-water mark.
    ///
    /// - Throws: `CancellationError` if the client has disconnected or was too slow, or another error if more is
    ///   written than the stated length.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        switch destination {
        case .exchange(let exchange): try await exchange.write(bytes)
        case .memory(let collector): collector.append(bytes)
        }
    }
}

/// An error of a streamed body that differs from its announcement.
package enum ResponseWriterError: Error, Hashable, Sendable {
    /// The body has more bytes than the stated length.
    case tooLong
}
