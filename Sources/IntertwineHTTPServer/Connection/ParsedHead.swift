internal import HTTPTypes

/// What the head of a request says, and what the server itself answers to that. Offsets into the head's bytes, which are held elsewhere.
struct ParsedHead {
    private enum Form {
        case origin
        case asterisk
        case authority
        case fault(HTTPParseError)
    }

    let parser: HeadParser
    let method: RequestMethod
    let framing: MessageFraming
    let name: RequestID.Name
    private let form: Form
    /// Path and query.
    private let target: Range<Int>
    /// What an absolute target names beside them.
    private let authority: Range<Int>?

    /// - Throws: where nobody knows where the request ends.
    init(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>, _ names: RequestID.Line) throws(HTTPParseError) {
        let methodName = ByteView(bytes, parser.method)
        framing = try MessageFraming(parser, bytes)
        method = RequestMethod(methodName)
        self.parser = parser
        name = names.name(parser, bytes)
        var (target, authority) = (parser.target, Range<Int>?.none)
        do {
            switch try RequestTarget(ByteView(bytes, target), method: methodName) {
            case .origin(let path, let named):
                form = .origin
                if let named {
                    target = (target.upperBound - path.count)..<target.upperBound
                    authority = (target.lowerBound - named.count)..<target.lowerBound
                }
            case .asterisk: form = .asterisk
            case .authority: form = .authority
            }
        } catch {
            form = .fault(error)
        }
        (self.target, self.authority) = (target, authority)
    }

    /// Whether the handler may be asked for an answer that needs nothing but the head.
    var isPlain: Bool {
        if case .origin = form {
            framing.body == .none && framing.expectation != .unknown && method != .other && method != .trace
        } else {
            false
        }
    }

    /// A view of the head.
    func view(of bytes: UnsafeBufferPointer<UInt8>) -> RequestHead {
        RequestHead(parser: parser, bytes: bytes, method: method, target: ByteView(bytes, target))
    }

    /// The request with copies of its parts.
    func request(of bytes: UnsafeBufferPointer<UInt8>) -> HTTPRequest {
        var fields = HTTPFields()
        fields.reserveCapacity(parser.fields.count)
        for field in parser.fields where field.known != .host {
            let name = ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound)).string
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: Array(parser.value(field, in: bytes).bytes)))
        }
        let authority = self.authority.map { ByteView(bytes, $0) } ?? parser.value(of: .host, in: bytes)
        let method = HTTPRequest.Method(rawValue: ByteView(bytes, parser.method).string) ?? .get
        let path = ByteView(bytes, target)
        let prefix = path[0] == .slash ? "" : "/"
        return HTTPRequest(method: method, scheme: "http", authority: authority.string, path: prefix + path.string, headerFields: fields)
    }

    /// What the server refuses or answers itself, whatever the handler would say.
    ///
    /// - Parameter methods: those that are known, and how a field lists them.
    func ownAnswer(to bytes: UnsafeBufferPointer<UInt8>, methods: (known: [HTTPRequest.Method], list: String)) -> ServerResponse? {
        if case .fault(let fault) = form {
            var response = ProblemDetails(fault).response()
            // What cannot be a target is the last of its connection: what follows may be no request either.
            response.closesConnection = true
            return response
        }
        let allow: HTTPFields = [.allow: methods.list]
        let methodName = ByteView(bytes, parser.method)
        // Registered methods are known, wherever they lead: 405. What is not, is 501 (RFC 9110, 15.6.2).
        if method == .connect || method == .trace || methodName.isEqual("QUERY") {
            var response = ProblemDetails(status: 405, detail: "This method is not allowed here.").response(fields: allow)
            response.closesConnection = method == .connect
            return response
        }
        if !methods.known.contains(where: { $0.rawValue.utf8.elementsEqual(methodName.bytes) }) {
            return ProblemDetails(status: 501, detail: "This method is not known here.").response(fields: allow)
        }
        let hasBody = framing.body != .none
        if framing.expectation == .unknown {
            var response = ProblemDetails(status: 417, detail: "The only expectation that can be met is 100-continue.").response()
            response.closesConnection = hasBody
            return response
        }
        if case .asterisk = form { return ServerResponse(status: .noContent, fields: allow) }
        if hasBody, isCoded(bytes) {
            return ProblemDetails(status: 415, detail: "Request bodies must not be coded.").response(fields: [.acceptEncoding: "identity"])
        }
        return nil
    }

    private func isCoded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if parser.seen & KnownField.contentEncoding.bit == 0 { return false }
        var isCoded = false
        for field in parser.fields where field.known == .contentEncoding {
            parser.value(field, in: bytes).forEachElement(quoting: false) { element in
                if !element.isEmpty, !element.isEqualIgnoringCase("identity") { isCoded = true }
                return true
            }
        }
        return isCoded
    }
}
