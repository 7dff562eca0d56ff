internal import HTTPTypes
internal import IntertwinePrimitives

/// Encodes the heads of one response for each kind of request: status line and fields, except `Vary` and those that ``PerResponseHeaders``
/// appends. The server writes `Vary` into each head, because ``EncodedFields`` extend it.
/// Values from outside are validated again: a line break in a value or a reason phrase would start another response (response splitting).
struct HeadEncoder {
    private let response: ServerResponse

    init(_ response: ServerResponse) {
        self.response = response
    }

    /// The elements of `Vary` in one line, because some caches read only one; empty if the response does not vary.
    var vary: [UInt8] { Self.vary(response.fields[values: .vary] + (response.isCompressible ? ["Accept-Encoding"] : [])) }

    private static func isOwn(_ name: HTTPField.Name) -> Bool {
        switch name {
        case .contentLength, .transferEncoding, .connection, .date, .eTag, .lastModified, .acceptRanges: true
        default: name.canonicalName == "keep-alive" || name.canonicalName == "upgrade" || name.canonicalName == "x-request-id"
        }
    }

    /// A length is omitted if content is not allowed (RFC 9110, 8.6).
    func head(length: Int?, entityTag: [UInt8]?, coding: String?) -> [UInt8] {
        var bytes = start(response.status.code, response.status.phrase)
        let hasContent = response.status.code >= 200 && response.status.code != 204 && response.status.code != 304
        appendFields(to: &bytes, isPartOfNotModified: false)
        appendValidators(to: &bytes, entityTag: entityTag)
        if let coding { append("Content-Encoding", coding, to: &bytes) }
        if response.acceptsRanges, response.status.code == 200 { append("Accept-Ranges", "bytes", to: &bytes) }
        if let length, hasContent { append("Content-Length", String(length), to: &bytes) }
        return bytes
    }

    /// Encodes the head of 304: the fields that a cache needs to update its stored response (RFC 9110, 15.4.5).
    func notModified(entityTag: [UInt8]?) -> [UInt8] {
        var bytes = start(304, "Not Modified")
        appendFields(to: &bytes, isPartOfNotModified: true)
        appendValidators(to: &bytes, entityTag: entityTag)
        return bytes
    }

    func partial(_ range: Range<Int>, of length: Int, entityTag: [UInt8]?, coding: String?) -> [UInt8] {
        var bytes = start(206, "Partial Content")
        appendFields(to: &bytes, isPartOfNotModified: false)
        appendValidators(to: &bytes, entityTag: entityTag)
        if let coding { append("Content-Encoding", coding, to: &bytes) }
        append("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)", to: &bytes)
        append("Content-Length", String(range.count), to: &bytes)
        return bytes
    }

    func chunked(coding: String? = nil) -> [UInt8] {
        var bytes = start(response.status.code, response.status.phrase)
        appendFields(to: &bytes, isPartOfNotModified: false)
        appendValidators(to: &bytes, entityTag: response.entityTag.map { Array($0.utf8) })
        if let coding { append("Content-Encoding", coding, to: &bytes) }
        append("Transfer-Encoding", "chunked", to: &bytes)
        return bytes
    }

    static func head(
        _ common: [UInt8], field: HTTPField?, entityTag: [UInt8], content: (length: Int, coding: String?)?
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(common.count + (field?.value.utf8.count ?? 0) + entityTag.count + 128)
        bytes += common
        if let field { append(field.name.rawName, field.value, to: &bytes) }
        bytes += "ETag: ".utf8
        bytes += entityTag
        bytes += "\r\n".utf8
        if let content {
            if let coding = content.coding { append("Content-Encoding", coding, to: &bytes) }
            append("Content-Length", String(content.length), to: &bytes)
        }
        return bytes
    }

    static func lines(of fields: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields where !isOwn(field.name) && field.name != .vary { append(field.name.rawName, field.value, to: &bytes) }
        return bytes
    }

    private func start(_ status: Int, _ reason: String) -> [UInt8] {
        var bytes: [UInt8] = []
        // Most heads of a single response fit, including those of pages with their links.
        bytes.reserveCapacity(640)
        bytes += "HTTP/1.1 \(min(max(status, 100), 999)) ".utf8
        Self.appendClean(reason, to: &bytes)
        bytes += "\r\n".utf8
        return bytes
    }

    private func appendFields(to bytes: inout [UInt8], isPartOfNotModified: Bool) {
        for field in response.fields where !Self.isOwn(field.name) && field.name != .vary {
            let describesContent = field.name == .contentType || field.name == .contentEncoding || field.name == .contentLanguage
            if isPartOfNotModified, describesContent { continue }
            append(field.name.rawName, field.value, to: &bytes)
        }
    }

    static func vary(_ values: [String]) -> [UInt8] {
        var names: [String] = []
        for value in values {
            for name in value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
                if !names.contains(where: { $0.lowercased() == name.lowercased() }) { names.append(String(name)) }
            }
        }
        var bytes: [UInt8] = []
        appendClean(names.contains("*") ? "*" : names.joined(separator: ", "), to: &bytes)
        return bytes
    }

    private func appendValidators(to bytes: inout [UInt8], entityTag: [UInt8]?) {
        if let entityTag { append("ETag", String(decoding: entityTag, as: UTF8.self), to: &bytes) }
        if let second = response.lastModified {
            append("Last-Modified", HTTPDate.text(min(second, WallClock.coarse() / 1_000)), to: &bytes)
        }
    }

    private func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        Self.append(name, value, to: &bytes)
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes += name.utf8
        bytes += ": ".utf8
        appendClean(value, to: &bytes)
        bytes += "\r\n".utf8
    }

    private static func appendClean(_ text: String, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += text.utf8
        for index in start..<bytes.count where !ByteClass.of(bytes[index]).contains(.value) { bytes[index] = .space }
    }
}

extension HTTPResponse.Status {
    private static let phrases: [Int: String] = {
        let known: [HTTPResponse.Status] = [
            .ok, .created, .accepted, .noContent, .partialContent, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect,
            .permanentRedirect, .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .notAcceptable, .requestTimeout,
            .conflict, .gone, .lengthRequired, .preconditionFailed, .contentTooLarge, .uriTooLong, .unsupportedMediaType,
            .rangeNotSatisfiable, .expectationFailed, .unprocessableContent, .preconditionRequired, .tooManyRequests,
            .requestHeaderFieldsTooLarge, .internalServerError, .notImplemented, .badGateway, .serviceUnavailable, .gatewayTimeout,
            .httpVersionNotSupported,
        ]
        var phrases = Dictionary(known.map { ($0.code, $0.reasonPhrase) }, uniquingKeysWith: { first, _ in first })
        // RFC 9110, 15.5.20; RFC 4918; RFC 8470; RFC 9110, 15.5.22; RFC 7725; RFC 5842; RFC 6585; RFC 8297.
        let others = [
            103: "Early Hints", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used", 421: "Misdirected Request", 423: "Locked",
            424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 451: "Unavailable For Legal Reasons",
            506: "Variant Also Negotiates", 507: "Insufficient Storage", 511: "Network Authentication Required",
        ]
        phrases.merge(others) { first, _ in first }
        // This code is not registered; nginx uses it for a client that disconnected before its response.
        phrases[499] = "Client Closed Request"
        // RFC 5842 section 7.2.
        phrases[508] = "Loop Detected"
        return phrases
    }()

    /// The reason phrase, or else the registered one (RFC 9110 section 15); empty for an unregistered code.
    package var phrase: String { reasonPhrase.isEmpty ? Self.phrases[code] ?? "" : reasonPhrase }
}
