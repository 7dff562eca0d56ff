/// Reads JSON values (RFC 8259) off bytes, strictly, without making a tree of them.
///
/// The scanner holds a position only; the bytes are handed to every call, so that they are neither copied nor retained.
/// No input makes it trap, and none makes it recurse: nesting is kept in the bits of one word.
struct JSONScanner {
    /// Nesting beyond this is refused: RFC 8259 §9 allows a limit, and no item comes near it.
    static let depthLimit = 64

    var position: Int

    init(at position: Int = 0) {
        self.position = position
    }

    /// Moves to the next byte that is not insignificant whitespace.
    @inline(__always)
    mutating func skipWhitespace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// Reads one value, the position being at its first byte, and stops right behind it.
    mutating func value(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
        guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
        switch bytes[position] {
        case UInt8(ascii: "\""): return try string(bytes)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try container(bytes)
        default: return try scalar(bytes)
        }
    }

    /// An object or an array, checked to its end.
    private mutating func container(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
        let start = position
        let kind: JSONToken.Kind = bytes[start] == UInt8(ascii: "{") ? .object : .array
        // Bit 0 tells the innermost container: 1 for an object.
        var nesting: UInt64 = 0
        var depth = 0
        repeat {
            // A value is expected here.
            skipWhitespace(bytes)
            guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
            let byte = bytes[position]
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                guard depth < Self.depthLimit else { throw JSONFault(.tooDeep, at: position) }
                let isObject = byte == UInt8(ascii: "{")
                nesting = nesting << 1 | (isObject ? 1 : 0)
                depth += 1
                position += 1
                skipWhitespace(bytes)
                guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
                if bytes[position] != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    if isObject { _ = try name(bytes) }
                    continue
                }
            } else if byte == UInt8(ascii: "\"") {
                _ = try string(bytes)
            } else {
                _ = try scalar(bytes)
            }
            // A value is over, or an empty container is about to be: what follows may close any number of them.
            try close(bytes, nesting: &nesting, depth: &depth)
        } while depth > 0
        return JSONToken(kind, start..<position)
    }

    /// Closes containers until a comma says that one goes on, or none is open.
    private mutating func close(_ bytes: Span<UInt8>, nesting: inout UInt64, depth: inout Int) throws(JSONFault) {
        while depth > 0 {
            skipWhitespace(bytes)
            guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
            let isObject = nesting & 1 == 1
            let byte = bytes[position]
            if byte == UInt8(ascii: ",") {
                position += 1
                if isObject {
                    skipWhitespace(bytes)
                    _ = try name(bytes)
                }
                return
            }
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw JSONFault(.expectedCommaOrEnd, at: position) }
            position += 1
            nesting >>= 1
            depth -= 1
        }
    }

    /// A member's name and the colon behind it.
    mutating func name(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
        guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
        guard bytes[position] == UInt8(ascii: "\"") else {
            throw JSONFault(bytes[position] == UInt8(ascii: "}") ? .trailingComma : .expectedName, at: position)
        }
        let name = try string(bytes)
        skipWhitespace(bytes)
        guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
        guard bytes[position] == UInt8(ascii: ":") else { throw JSONFault(.expectedColon, at: position) }
        position += 1
        return name
    }
}
