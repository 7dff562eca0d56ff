/// The token in a value of `Authorization` (RFC 6750 section 2.1).
enum BearerCredentials {
    /// ``TokenError/malformed`` if there are two tokens, because the sender is ambiguous.
    static func token(in values: some Sequence<String>) throws(TokenError) -> [UInt8]? {
        var found: [UInt8]?
        for value in values {
            let bytes = Array(value.utf8)
            guard let token = withToken(in: bytes.span, { token in token.indices.map { token[$0] } }) else { continue }
            guard found == nil else { throw .malformed }
            found = token
        }
        return found
    }

    /// The result of the closure; nil if the value has another scheme, so that it contains no token.
    static func withToken<Result>(in authorization: Span<UInt8>, _ body: (Span<UInt8>) -> Result) -> Result? {
        let scheme: StaticString = "bearer"
        let length = scheme.utf8CodeUnitCount
        guard authorization.count >= length else { return nil }
        guard authorization.count == length || authorization[length] == 0x20 || authorization[length] == 0x09 else { return nil }
        let matches = scheme.withUTF8Buffer { scheme in
            scheme.indices.allSatisfy { index in
                let byte = authorization[index]
                return (0x41...0x5A).contains(byte) ? byte | 0x20 == scheme[index] : byte == scheme[index]
            }
        }
        guard matches else { return nil }
        // The scheme and the token are separated by one or more spaces (RFC 9110 section 11.4).
        var start = length
        while start < authorization.count, authorization[start] == 0x20 { start += 1 }
        var end = authorization.count
        while end > start, authorization[end - 1] == 0x20 { end -= 1 }
        return body(authorization.extracting(start..<end))
    }
}
