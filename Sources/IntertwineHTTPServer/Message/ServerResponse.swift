public import HTTPTypes

/// An answer. The server adds what is its own: Date, Content-Length or the chunked coding, Connection, Vary, and what
/// conditions, ranges and codings ask for. Fields of that kind that stand in ``fields`` are left out.
public struct ServerResponse: Sendable {
    enum Body: Sendable {
        case content(ResponseBody)
        case encoded(EncodedResponse)
        case stream(length: Int?, produce: @Sendable (ResponseWriter) async throws -> Void)
        case pushed(@Sendable (EventStream) -> Void)
    }

    /// What the head says.
    private struct Head: Sendable {
        var status: HTTPResponse.Status
        var fields: HTTPFields
        var entityTag: String?
        var lastModified: Int64?
        var acceptsRanges = false
        var isCompressible = false
    }

    /// Of a finished response, the status alone: ``EncodedResponse`` has the rest.
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
    /// When the content last changed, in seconds since 1970.
    public var lastModified: Int64? {
        get { shown.lastModified }
        set {
            thaw()
            head.lastModified = newValue
        }
    }
    /// Single ranges of the content may be asked for (RFC 9110, 14).
    public var acceptsRanges: Bool {
        get { shown.acceptsRanges }
        set {
            thaw()
            head.acceptsRanges = newValue
        }
    }
    /// Content of 1 KiB and more may be sent in gzip coding to those who want it.
    public var isCompressible: Bool {
        get { shown.isCompressible }
        set {
            thaw()
            head.isCompressible = newValue
        }
    }
    /// The connection ends with this answer.
    public var closesConnection = false
    var body: Body

    private var shown: Head { if case .encoded(let finished) = body { finished.response.head } else { head } }

    /// A response that is changed is finished no more: what it was finished to no longer says what it says.
    private mutating func thaw() {
        if case .encoded = body { self = unfinished }
    }

    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        head = Head(status: status, fields: fields)
        self.body = .content(.bytes(body))
    }

    /// An answer whose body lies in a file. It is never compressed.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], file: FileBody) {
        head = Head(status: status, fields: fields)
        self.body = .content(.file(file))
    }

    /// A finished answer.
    public init(_ finished: EncodedResponse) {
        head = Head(status: HTTPResponse.Status(code: finished.status), fields: [:])
        closesConnection = finished.closesConnection
        self.body = .encoded(finished)
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
        head = Head(status: status, fields: fields)
        self.body = .stream(length: length, produce: produce)
    }

    /// An answer that goes on, and that others send the body of. In observations it ends where its body begins. Its connection carries no
    /// other answer.
    ///
    /// - Parameter attach: is given the stream once its head is out, on the event loop: it must neither wait nor take long. Not called for
    ///   HEAD.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], pushing attach: @escaping @Sendable (EventStream) -> Void) {
        head = Head(status: status, fields: fields)
        self.body = .pushed(attach)
    }
}

extension ServerResponse {
    var isFinished: Bool { if case .encoded = body { true } else { false } }

    /// The same response with a body that is not finished, if it was.
    var unfinished: ServerResponse {
        guard case .encoded(let finished) = body else { return self }
        var response = finished.response
        response.closesConnection = closesConnection
        return response
    }

    /// The same answer with more fields. One that stands there already, with the same value, is not added again.
    public func adding(_ fields: HTTPFields) -> ServerResponse {
        var response = self
        if case .encoded(let finished) = body {
            response.body = .encoded(finished.adding(fields))
        } else {
            for field in fields where !response.fields[fields: field.name].contains(where: { $0.value == field.value }) {
                response.fields.append(field)
            }
        }
        return response
    }
}

/// Writes the body of a streamed answer.
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

    /// Sends bytes. Returns when there is room for more: at once as long as less than the output high-water mark is waiting.
    ///
    /// - Throws: `CancellationError` where the client is gone or has been too slow, ``ResponseWriterError`` where more is
    ///   written than was announced.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        switch destination {
        case .exchange(let exchange): try await exchange.write(bytes)
        case .memory(let collector): collector.append(bytes)
        }
    }
}

/// A streamed body that is not what was announced.
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// More bytes than the stated length.
    case tooLong
}

/// An answer that comes a little later, and that no task has to wait for: for what is asked as often as pages are and has to wait all the
/// same, for the disk above all.
public struct PendingResponse: Sendable {
    /// Makes the answer, on the event loop: it must neither wait nor take long. What it makes is sent as it is, and not streamed.
    public typealias Make = @Sendable () -> ServerResponse
    /// Brings the answer, once, from any thread. Where it is never called, the server answers 503 when the time for the request is over.
    public typealias Reply = @Sendable (@escaping Make) -> Void

    /// Calls the work off, if that is still possible: nobody waits for the answer any more. Called on the loop, once at the most; the reply may
    /// be called all the same.
    public typealias Cancel = @Sendable () -> Void

    let route: String?
    let begin: @Sendable (@escaping Reply) -> Cancel?

    /// - Parameters:
    ///   - route: the name of the route in observations.
    ///   - begin: has the work done, and gives what calls it off, if anything does. Called once, on the loop: it must neither wait nor take
    ///     long.
    public init(route: String? = nil, begin: @escaping @Sendable (_ reply: @escaping Reply) -> Cancel?) {
        self.route = route
        self.begin = begin
    }

    /// The same answer with more fields, unless it is finished: such a one has them by ``HTTPHandler/finishedFields(for:)``.
    ///
    /// - Parameter fields: called on the event loop, if they are needed.
    public func addingToUnfinished(_ fields: @escaping @Sendable () -> HTTPFields) -> PendingResponse {
        PendingResponse(route: route) { [begin] reply in
            begin { make in
                reply {
                    let response = make()
                    return response.isFinished ? response : response.adding(fields())
                }
            }
        }
    }
}
