public import HTTPTypes

/// An answer. The server adds what is its own: Date, Content-Length or the chunked coding, Connection, Vary, and what
/// conditions, ranges and codings ask for. Fields of that kind that stand in ``fields`` are left out.
public struct ServerResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case finished(FinishedResponse)
        case stream(length: Int?, produce: @Sendable (ResponseWriter) async throws -> Void)
    }

    public var status: HTTPResponse.Status
    public var fields: HTTPFields
    /// The entity tag with its quotes, for conditional requests.
    public var entityTag: String?
    /// When the content last changed, in seconds since 1970.
    public var lastModified: Int64?
    /// Single ranges of the content may be asked for (RFC 9110, 14).
    public var acceptsRanges = false
    /// Content of 1 KiB and more may be sent in gzip coding to those who want it.
    public var isCompressible = false
    /// The connection ends with this answer.
    public var closesConnection = false
    var body: Body

    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = .bytes(body)
    }

    /// A finished answer.
    public init(_ finished: FinishedResponse) {
        self.status = HTTPResponse.Status(code: finished.status)
        self.fields = [:]
        self.body = .finished(finished)
    }

    /// An answer whose body is written as it comes into being.
    ///
    /// - Parameters:
    ///   - length: the exact number of bytes; nil for the chunked coding (for HTTP/1.0 clients: the end of the connection).
    ///   - produce: writes the body, in the task of the handler. Throwing breaks the connection off, so that nobody takes the
    ///     part for the whole. Not called for HEAD.
    public init(
        status: HTTPResponse.Status, fields: HTTPFields = [:], length: Int? = nil,
        stream produce: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) {
        self.status = status
        self.fields = fields
        self.body = .stream(length: length, produce: produce)
    }
}
