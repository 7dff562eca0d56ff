public import HTTPTypes

extension RequestHead {
    /// True if the method only reads (RFC 9110, 9.2.1).
    public var isSafe: Bool { method == .get || method == .head || method == .options || method == .trace }

    /// True if the request has a body.
    public var hasBody: Bool { framing.hasBody }

    var isAccepted: Bool {
        if case .success(.origin) = destination {
            !framing.hasBody && !framing.expectsMore && method != .other && method != .trace
        } else {
            false
        }
    }

    /// The request as an `HTTPRequest`, with copies of its parts.
    public var request: HTTPRequest {
        var fields = HTTPFields()
        fields.reserveCapacity(parser.fields.count)
        for field in parser.fields where field.known != .host {
            guard let name = HTTPField.Name(parser.name(field, in: bytes).string) else { continue }
            fields.append(HTTPField(name: name, value: Array(parser.value(field, in: bytes).bytes)))
        }
        let method = HTTPRequest.Method(rawValue: ByteView(bytes, parser.method).string) ?? .get
        let prefix = target[0] == .slash ? "" : "/"
        return HTTPRequest(
            method: method, scheme: "http", authority: authority.string, path: prefix + target.string, headerFields: fields)
    }

    private var authority: ByteView {
        if case .success(.origin(_, let named?)) = destination { ByteView(bytes, named) } else { value(of: .host) }
    }

    func makeRefusal(methods: (known: [HTTPRequest.Method], list: String)) -> ServerResponse? {
        if case .failure(let fault) = destination {
            var response = ProblemDetails(fault).response()
            // A malformed target ends the connection, because the bytes after it may not be a request either.
            response.closesConnection = true
            return response
        }
        let allow: HTTPFields = [.allow: methods.list]
        let methodName = ByteView(bytes, parser.method)
        // Registered methods are answered with 405 for every target, and unknown ones with 501 (RFC 9110, 15.6.2).
        if method == .connect || method == .trace || methodName.isEqual("QUERY") {
            var response = ProblemDetails(status: 405, detail: "This method is not allowed.").response(fields: allow)
            response.closesConnection = method == .connect
            return response
        }
        if !methods.known.contains(where: { $0.rawValue.utf8.elementsEqual(methodName.bytes) }) {
            return ProblemDetails(status: 501, detail: "This method is unknown.").response(fields: allow)
        }
        if framing.expectsMore {
            var response = ProblemDetails(status: 417, detail: "The only supported expectation is 100-continue.").response()
            response.closesConnection = framing.hasBody
            return response
        }
        if case .success(.asterisk) = destination { return ServerResponse(status: .noContent, fields: allow) }
        if framing.hasBody, isCoded {
            return ProblemDetails(status: 415, detail: "Request bodies must not have a content coding.").response(fields: [
                .acceptEncoding: "identity"
            ])
        }
        return nil
    }

    private var isCoded: Bool {
        var isCoded = false
        forEachValue(of: .contentEncoding) { value in
            value.forEachElement(quoting: false) { coding in
                isCoded = !coding.isEmpty && !coding.isEqualIgnoringCase("identity")
                return !isCoded
            }
            return !isCoded
        }
        return isCoded
    }
}
