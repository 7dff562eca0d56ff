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
            var response = Problem(fault).refusal()
            // A malformed target ends the connection, because the bytes after it may not be a request either.
            response.closesConnection = true
            return response
        }
        let allow: HTTPFields = [.allow: methods.list]
        let methodName = ByteView(bytes, parser.method)
        // Registered methods are answered with 405 for every target, and unknown ones with 501 (RFC 9110, 15.6.2).
        if method == .connect || method == .trace || methodName.isEqual("QUERY") {
            var response = Problem(.methodNotAllowed, nil, "This method is not allowed.", fields: allow).refusal()
            response.closesConnection = method == .connect
            return response
        }
        if !methods.known.contains(where: { $0.rawValue.utf8.elementsEqual(methodName.bytes) }) {
            return Problem(.notImplemented, nil, "This method is unknown.", fields: allow).refusal()
        }
        if framing.expectsMore {
            var response = Problem(.expectationFailed, nil, "The only supported expectation is 100-continue.").refusal()
            response.closesConnection = framing.hasBody
            return response
        }
        if case .success(.asterisk) = destination { return ServerResponse(status: .noContent, fields: allow) }
        if framing.hasBody, isCoded {
            return Problem(
                .unsupportedMediaType, nil, "Request bodies must not have a content coding.",
                fields: [
                    .acceptEncoding: "identity"
                ]
            ).refusal()
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
