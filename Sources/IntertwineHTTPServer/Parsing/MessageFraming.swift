/// The length of a request's body and the reuse of its connection, determined from the head only (RFC 9112, 6 and 9).
package struct MessageFraming {
    package let length: Int?
    let expectsContinue: Bool
    let expectsMore: Bool
    let keepsAlive: Bool
    /// True if the response must state the reuse of the connection, for an HTTP/1.0 client.
    let sendsKeepAliveHeader: Bool

    var hasBody: Bool { length != 0 }

    package init(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>) throws(HTTPParseError) {
        let seen = parser.seen
        if seen & KnownField.host.bit == 0 {
            if parser.minor > 0 { throw .bad("The Host field is missing.") }
        } else if parser.repeated & KnownField.host.bit != 0 || !parser.value(of: .host, in: bytes).isHost {
            throw .bad("The Host field is malformed.")
        }
        let framing = KnownField.contentLength.bit | KnownField.transferEncoding.bit
        if seen & framing == framing { throw .bad("Content-Length and Transfer-Encoding must not be combined.") }
        if parser.repeated != 0 { throw .bad("A header field that must occur once is repeated.") }
        if seen & framing == 0 {
            length = 0
        } else if seen & KnownField.transferEncoding.bit != 0 {
            try Self.checkCoding(parser.value(of: .transferEncoding, in: bytes), minor: parser.minor)
            length = nil
        } else {
            // A length has digits only, and every recipient reads leading zeros in one way (RFC 9110, 8.6).
            var value = parser.value(of: .contentLength, in: bytes)
            while value.count > 1, value[0] == 0x30 { value = value.part(1..<value.count) }
            guard let length = value.decimal else { throw .bad("The Content-Length is malformed.") }
            self.length = length
        }

        // Connection options are tokens, so quotes have no effect on separators.
        var (asksToClose, asksToKeep) = (false, false)
        if seen & KnownField.connection.bit != 0 {
            for field in parser.fields where field.known == .connection {
                parser.value(field, in: bytes).forEachElement(quoting: false) { element in
                    if element.isEqualIgnoringCase("close") { asksToClose = true }
                    if element.isEqualIgnoringCase("keep-alive") { asksToKeep = true }
                    return true
                }
            }
        }
        keepsAlive = !asksToClose && (parser.minor > 0 || asksToKeep)
        sendsKeepAliveHeader = keepsAlive && parser.minor == 0

        // The field is a list, in one line or several (RFC 9110, 10.1.1). Empty elements are ignored (5.6.1).
        var (waits, isUnknown) = (false, false)
        if seen & KnownField.expect.bit != 0, parser.minor > 0 {
            for field in parser.fields where field.known == .expect {
                parser.value(field, in: bytes).forEachElement { element in
                    if element.isEqualIgnoringCase("100-continue") { waits = true } else if !element.isEmpty { isUnknown = true }
                    return true
                }
            }
        }
        (expectsContinue, expectsMore) = (waits && !isUnknown, isUnknown)
    }

    private static func checkCoding(_ value: ByteView, minor: UInt8) throws(HTTPParseError) {
        if minor == 0 { throw .bad("HTTP/1.0 does not define Transfer-Encoding.") }
        if value.isEqualIgnoringCase("chunked") { return }
        var codings = 0
        var (isWellFormed, endsInChunked) = (true, false)
        value.forEachElement(quoting: false) { coding in
            codings += 1
            // A coding after `chunked` makes the field malformed, because the end of the body is then unknown.
            if endsInChunked || !coding.isToken && !(coding.isQuotedToken && value.count == coding.count) { isWellFormed = false }
            endsInChunked = coding.isEqualIgnoringCase("chunked")
            return isWellFormed
        }
        guard isWellFormed, codings == 1 || endsInChunked else { throw .bad("The Transfer-Encoding is malformed.") }
        throw HTTPParseError(501, "The transfer coding is not supported.")
    }
}

extension ByteView {
    fileprivate var isToken: Bool { !isEmpty && bytes.allSatisfy { ByteClass.of($0).contains(.token) } }

    fileprivate var isQuotedToken: Bool {
        count > 2 && self[0] == .quote && self[count - 1] == .quote && part(1..<count - 1).isToken
    }
}

extension HeadParser {
    func name(_ field: Field, in bytes: UnsafeBufferPointer<UInt8>) -> ByteView {
        ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound))
    }

    func value(_ field: Field, in bytes: UnsafeBufferPointer<UInt8>) -> ByteView {
        ByteView(bytes, Int(field.value.lowerBound)..<Int(field.value.upperBound))
    }

    func readMethod(in bytes: UnsafeBufferPointer<UInt8>) -> RequestMethod? {
        method.isEmpty ? nil : RequestMethod(ByteView(bytes, method))
    }

    func value(of known: KnownField, in bytes: UnsafeBufferPointer<UInt8>) -> ByteView {
        for field in fields where field.known == known { return value(field, in: bytes) }
        return ByteView(bytes, 0..<0)
    }
}
