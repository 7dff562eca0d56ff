public import HTTPTypes

/// A response of a handler. The server adds Date, Content-Length or the chunked coding, Connection, Vary, and the fields of
/// conditions, ranges and codings. Fields of these kinds in ``fields`` are left out.
///
/// ```swift
/// let response = ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array("Hello".utf8))
/// ```
public struct ServerResponse: Sendable {
    enum Body: Sendable {
        case content(ResponseBody)
        case encoded(EncodedResponse)
        case stream(length: Int?, produce: @Sendable (ResponseWriter) async throws -> Void)
        case pushed(@Sendable (EventStream) -> Void)
    }

    /// The contents of the head.
    private struct Head: Sendable {
        var status: HTTPResponse.Status
        var fields: HTTPFields
        var entityTag: String?
        var lastModified: Int64?
        var acceptsRanges = false
        var isCompressible = false
    }

    /// The head. For an encoded response it holds only the status; ``EncodedResponse`` has the rest.
    private var head: Head
    public var status: HTTPResponse.Status {
        get { head.status }
        set {
            thaw()
            head.status = newValue
        }
    }
    public var fields: HTTPFields {
        get { shown.fields }
        _modify {
            thaw()
            yield &head.fields
        }
    }
    /// The entity tag with its quotes, for conditional requests.
    public var entityTag: String? {
        get { shown.entityTag }
        set {
            thaw()
            head.entityTag = newValue
        }
    }
    /// The time of the last modification, in seconds since 1970-01-01 UTC.
    public var lastModified: Int64? {
        get { shown.lastModified }
        set {
            thaw()
            head.lastModified = newValue
        }
    }
    /// True if single ranges of the content may be requested (RFC 9110, 14).
    public var acceptsRanges: Bool {
        get { shown.acceptsRanges }
        set {
            thaw()
            head.acceptsRanges = newValue
        }
    }
    /// True if content of 1 KiB and more may be sent in gzip coding to clients that accept it.
    public var isCompressible: Bool {
        get { shown.isCompressible }
        set {
            thaw()
            head.isCompressible = newValue
        }
    }
    /// True if the connection closes after this response.
    public var closesConnection = false
    var body: Body

    private var shown: Head { if case .encoded(let encodedResponse) = body { encodedResponse.response.head } else { head } }

    /// Converts an encoded response back before a change, because its encoding would no longer match.
    private mutating func thaw() {
        if case .encoded = body { self = unfinished }
    }

    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        head = Head(status: status, fields: fields)
        self.body = .content(.bytes(body))
    }

    /// Creates a response whose body is in a file. It is never compressed.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], file: FileBody) {
        head = Head(status: status, fields: fields)
        self.body = .content(.file(file))
    }

    /// Creates a response from an encoded one.
    public init(_ encodedResponse: EncodedResponse) {
        head = Head(status: HTTPResponse.Status(code: encodedResponse.status), fields: [:])
        closesConnection = encodedResponse.closesConnection
        self.body = .encoded(encodedResponse)
    }

    /// Creates a response whose body is written as it is produced.
    ///
    /// - Parameters:
    ///   - length: The exact number of bytes; nil for the chunked coding (for HTTP/1.0 clients: the end of the connection).
    ///   - produce: A closure that writes the body, in the handler's task. If it throws, the connection is reset, so that the client
    ///     does not treat the part as complete. Not called for HEAD.
    public init(
        status: HTTPResponse.Status, fields: HTTPFields = [:], length: Int? = nil,
        stream produce: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) {
        head = Head(status: status, fields: fields)
        self.body = .stream(length: length, produce: produce)
    }

    /// Creates an open-ended response whose body is sent through an ``EventStream``. Its record ends where its body begins.
    /// Its connection carries no other response.
    ///
    /// - Parameter attach: Receives the stream after its head is sent, on the event loop: it must be fast and must not block.
    ///   Not called for HEAD.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], pushing attach: @escaping @Sendable (EventStream) -> Void) {
        head = Head(status: status, fields: fields)
        self.body = .pushed(attach)
    }
}

extension ServerResponse {
    var isEncoded: Bool { if case .encoded = body { true } else { false } }

    /// The response with a body that is not encoded.
    var unfinished: ServerResponse {
        guard case .encoded(let encodedResponse) = body else { return self }
        var response = encodedResponse.response
        response.closesConnection = closesConnection
        return response
    }

    /// Returns this response with additional fields. A field that exists with an equal value is not added again.
    public func adding(_ fields: HTTPFields) -> ServerResponse {
        var response = self
        if case .encoded(let encodedResponse) = body {
            response.body = .encoded(encodedResponse.adding(fields))
        } else {
            for field in fields where !response.fields[fields: field.name].contains(where: { $0.value == field.value }) {
                response.fields.append(field)
            }
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
    /// - Throws: `CancellationError` if the client has disconnected or was too slow, ``ResponseWriterError`` if more is
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
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// The body has more bytes than the stated length.
    case tooLong
}

/// A response that is delivered asynchronously and occupies no task. It serves frequent requests that have to wait, mainly for the disk.
public struct PendingResponse: Sendable {
    /// Produces the response on the event loop: it must be fast and must not block. The response is not streamed.
    public typealias Make = @Sendable () -> ServerResponse
    /// Delivers the response, once, from any thread. If it is never called, the server answers 503 when the request times out.
    public typealias Reply = @Sendable (@escaping Make) -> Void

    /// Cancels the work if possible, because the response is no longer needed. Called on the loop, at most once.
    /// The reply may still be called afterwards.
    public typealias Cancel = @Sendable () -> Void

    let route: String?
    let begin: @Sendable (@escaping Reply) -> Cancel?

    /// Creates a pending response.
    ///
    /// - Parameters:
    ///   - route: The name of the route in logs and metrics.
    ///   - begin: A closure that starts the work and returns a closure to cancel it, or nil. Called once, on the loop: it must be fast
    ///     and must not block.
    public init(route: String? = nil, begin: @escaping @Sendable (_ reply: @escaping Reply) -> Cancel?) {
        self.route = route
        self.begin = begin
    }
}
