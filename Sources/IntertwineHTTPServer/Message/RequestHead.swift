package import HTTPTypes
internal import IntertwinePrimitives

/// A request's head in the receive buffer: it copies and allocates nothing.
///
/// It is valid only during the call. Code that needs it longer copies the parts that it needs, or uses ``request``.
public struct RequestHead: ~Copyable {
    let parser: HeadParser
    let bytes: UnsafeBufferPointer<UInt8>
    private let ownsBytes: Bool
    package let method: RequestMethod
    let framing: MessageFraming
    let name: RequestID.Source
    let destination: Result<RequestTarget, HTTPParseError>
    private let path: Range<Int>
    private var refused: Refusal?

    /// Why a class: most requests have none, and a head is moved several times.
    private final class Refusal: Sendable {
        let response: ServerResponse

        init(_ response: ServerResponse) { self.response = response }
    }

    init(
        _ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>, name: RequestID.Source,
        methods: @autoclosure () -> (known: [HTTPRequest.Method], list: String)? = nil
    ) throws(HTTPParseError) {
        framing = try MessageFraming(parser, bytes)
        method = RequestMethod(ByteView(bytes, parser.method))
        destination = Result { () throws(HTTPParseError) in try RequestTarget(parser, bytes) }
        path = if case .success(.origin(let path, _)) = destination { path } else { parser.target }
        (self.parser, self.bytes, self.name, ownsBytes) = (parser, bytes, name, false)
        if !isAccepted, let methods = methods(), let response = makeRefusal(methods: methods) { refused = Refusal(response) }
    }

    private init(keeping head: borrowing RequestHead) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: head.bytes.count)
        _ = copy.initialize(fromContentsOf: head.bytes)
        (parser, method, framing, name) = (head.parser, head.method, head.framing, head.name)
        (destination, path, refused) = (head.destination, head.path, head.refused)
        (bytes, ownsBytes) = (UnsafeBufferPointer(copy), true)
    }

    deinit {
        if ownsBytes { bytes.deallocate() }
    }

    func copy() -> RequestHead { RequestHead(keeping: self) }

    package var requestID: RequestID { RequestID(name, in: bytes) }

    /// The response of the server if the request has an unknown method, an expectation or a coded body, or is not for a path of the handler.
    public var refusal: ServerResponse? { refused?.response }

    var target: ByteView { ByteView(bytes, path) }

    /// Returns true if path and query are exactly these bytes.
    ///
    /// ```swift
    /// func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
    ///     guard head.hasTarget("/health") else { return .notFound() }
    ///     return .respond(ServerResponse(body: "ok"), route: "health")
    /// }
    /// ```
    public func hasTarget(_ expected: StaticString) -> Bool { target.isEqual(expected) }

    /// Returns true if path and query are exactly these bytes.
    public func hasTarget(_ expected: [UInt8]) -> Bool { target.isEqual(expected) }

    /// Returns true if path and query, followed by `end`, are exactly the expected bytes.
    public func hasTarget(_ expected: [UInt8], before end: [UInt8]) -> Bool {
        let (target, count) = (target, expected.count - end.count)
        guard target.count == count else { return false }
        for index in 0..<count where target[index] != expected[index] { return false }
        for index in end.indices where expected[count + index] != end[index] { return false }
        return true
    }

    /// A hash of path and query (FNV-1a) to look up cached responses. It is not safe against deliberate collisions, so the target must be
    /// compared as well.
    public var targetHash: UInt64 { FNV1a.hash(target.bytes) }

    /// Calls `body` with the trimmed value of the first field of this name. Returns nil if there is no such field.
    ///
    /// - Parameter name: The name in lower case.
    public func withField<Result>(_ name: StaticString, _ body: (Span<UInt8>) -> Result) -> Result? {
        for field in parser.fields where parser.name(field, in: bytes).isEqualIgnoringCase(name) {
            return body(parser.value(field, in: bytes).bytes.span)
        }
        return nil
    }

    /// Returns true if a field of this name (in lower case) exists.
    public func hasField(_ name: StaticString) -> Bool {
        withField(name) { _ in true } ?? false
    }
}

extension RequestHead {
    /// Calls `body` with each field in order: its name in lower case, and a closure that returns its trimmed value.
    ///
    /// ```swift
    /// func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
    ///     var names: [String] = []
    ///     head.forEachField { name, _ in names.append(name) }  // "host", "user-agent", …
    ///     return .respond(ServerResponse(body: names.joined(separator: ", ")))
    /// }
    /// ```
    public func forEachField(_ body: (_ name: String, _ value: () -> String) -> Void) {
        for field in parser.fields {
            // The name is created in one step and mostly without allocation, because the head of every click is read here.
            let own = parser.name(field, in: bytes).bytes
            let name = String(unsafeUninitializedCapacity: own.count) { name in
                for index in 0..<own.count { name.initializeElement(at: index, to: own[index].lowercased) }
                return own.count
            }
            body(name) { parser.value(field, in: bytes).string }
        }
    }

    /// Calls `body` with path and query as received.
    public func withTarget<Result>(_ body: (Span<UInt8>) -> Result) -> Result { body(target.bytes.span) }

    /// Calls `body` with the path as received.
    public func withPath<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(target.part(0..<(queryStart.map { $0 - 1 } ?? target.count)).bytes.span)
    }

    /// Calls `body` with the query as received, without its question mark. It is empty if there is none.
    ///
    /// ```swift
    /// func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
    ///     let hasQuery = head.withQuery { !$0.isEmpty }
    ///     if hasQuery { return .notFound("This path has no parameters.") }
    ///     return .respond(ServerResponse(body: "Hello"))
    /// }
    /// ```
    public func withQuery<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(target.part((queryStart ?? target.count)..<target.count).bytes.span)
    }

    private var queryStart: Int? { target.bytes.firstIndex(of: UInt8(ascii: "?")).map { $0 + 1 } }

    /// Returns the value of a field, named in lower case, that occurs once and is non-empty printable ASCII. Returns nil otherwise.
    ///
    /// ```swift
    /// func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
    ///     let key = head.singleASCIIValue(of: Array("x-api-key".utf8))
    ///     guard key == "secret" else { return .notFound() }
    ///     return .respond(ServerResponse(body: "Hello"))
    /// }
    /// ```
    public func singleASCIIValue(of name: [UInt8]) -> String? {
        var found: ByteView?
        for field in parser.fields where isName(field, name) {
            guard found == nil else { return nil }
            found = parser.value(field, in: bytes)
        }
        guard let found, !found.isEmpty, found.bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return found.string
    }

    /// Returns true if a field of this name (in lower case) exists.
    public func hasField(_ name: [UInt8]) -> Bool {
        for field in parser.fields where isName(field, name) { return true }
        return false
    }

    private func isName(_ field: HeadParser.Field, _ name: [UInt8]) -> Bool {
        let own = parser.name(field, in: bytes)
        return own.count == name.count && zip(own.bytes, name).allSatisfy { $0.lowercased == $1 }
    }

    package static func hash(ofTarget target: [UInt8], after start: UInt64 = FNV1a.basis) -> UInt64 {
        FNV1a.hash(target, after: start)
    }
}

extension RequestHead {
    package var hasAuthorization: Bool { has(.authorization) }

    package func withAuthorization<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        has(.authorization) ? body(value(of: .authorization).bytes.span) : nil
    }
}

extension RequestHead {
    func has(_ known: KnownField) -> Bool { parser.seen & known.bit != 0 }

    func value(of known: KnownField) -> ByteView { parser.value(of: known, in: bytes) }

    func forEachValue(of known: KnownField, _ body: (ByteView) -> Bool) {
        guard has(known) else { return }
        for field in parser.fields where field.known == known {
            if !body(parser.value(field, in: bytes)) { return }
        }
    }

    var traceParent: String? {
        withField("traceparent") { $0.count > 128 ? nil : String(decoding: $0) } ?? nil
    }
}

package enum RequestMethod: Sendable {
    /// `GET` (RFC 9110 section 9.3.1).
    case get
    case head
    case post
    case put
    /// `PATCH` (RFC 5789).
    case patch
    case delete
    case options
    case connect
    case trace
    case other

    package init(_ method: HTTPRequest.Method) {
        var name = method.rawValue
        self = name.withUTF8 { RequestMethod(ByteView($0)) }
    }

    init(_ name: ByteView) {
        self =
            switch name.count {
            case 3 where name.isEqual("GET"): .get
            case 3 where name.isEqual("PUT"): .put
            case 4 where name.isEqual("HEAD"): .head
            case 4 where name.isEqual("POST"): .post
            case 5 where name.isEqual("PATCH"): .patch
            case 5 where name.isEqual("TRACE"): .trace
            case 6 where name.isEqual("DELETE"): .delete
            case 7 where name.isEqual("OPTIONS"): .options
            case 7 where name.isEqual("CONNECT"): .connect
            default: .other
            }
    }
}
