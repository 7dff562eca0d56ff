/// A strict scanner for JSON values (RFC 8259) that creates no tree.
/// The bytes are passed to every call, so they are neither copied nor retained.
package struct JSONScanner {
    /// RFC 8259 §9 permits a limit, and items have far fewer levels.
    package static let depthLimit = 64

    package var position: Int
    /// True if invalid values do not end the scan: a string is read up to its quote, a container up to its bracket, and any other value up
    /// to the next delimiter. Why: an API's invalid value costs its field, and not its list.
    private let isLenient: Bool

    package init(at position: Int = 0, isLenient: Bool = false) {
        self.position = position
        self.isLenient = isLenient
    }

    @inline(__always)
    package mutating func skipWhitespace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    package mutating func value(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
        switch bytes[position] {
        case UInt8(ascii: "\""): return try string(bytes)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try isLenient ? balanced(bytes) : container(bytes)
        default: return try isLenient ? word(bytes) : scalar(bytes)
        }
    }

    private mutating func balanced(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        let start = position
        var splitter = ItemSplitter()
        guard let end = splitter.end(in: bytes, from: start) else { throw JSONError(.endOfText, at: bytes.count) }
        position = end
        return JSONToken(bytes[start] == UInt8(ascii: "{") ? .object : .array, start..<end)
    }

    private mutating func word(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        let start = position
        while position < bytes.count, !Self.isDelimiter(bytes[position]) { position += 1 }
        guard position > start else { throw JSONError(.expectedValue, at: start) }
        var strict = JSONScanner(at: start)
        if let token = try? strict.scalar(bytes), strict.position == position { return token }
        return JSONToken(.invalid, start..<position)
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x0A, 0x0D, 0x09: true
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\""): true
        case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"): true
        default: false
        }
    }

    private mutating func container(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        let start = position
        let kind: JSONToken.Kind = bytes[start] == UInt8(ascii: "{") ? .object : .array
        // A bit stack of containers. Bit 0 is the innermost container: 1 for an object.
        var nesting: UInt64 = 0
        var depth = 0
        repeat {
            // A value is expected here.
            skipWhitespace(bytes)
            guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
            let byte = bytes[position]
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                guard depth < Self.depthLimit else { throw JSONError(.tooDeep, at: position) }
                let isObject = byte == UInt8(ascii: "{")
                nesting = nesting << 1 | (isObject ? 1 : 0)
                depth += 1
                position += 1
                skipWhitespace(bytes)
                guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
                if bytes[position] != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    if isObject { _ = try name(bytes) }
                    continue
                }
            } else if byte == UInt8(ascii: "\"") {
                _ = try string(bytes)
            } else {
                _ = try scalar(bytes)
            }
            // A value has ended, or an empty container is about to end. The following bytes may close any number of containers.
            try close(bytes, nesting: &nesting, depth: &depth)
        } while depth > 0
        return JSONToken(kind, start..<position)
    }

    private mutating func close(_ bytes: Span<UInt8>, nesting: inout UInt64, depth: inout Int) throws(JSONError) {
        while depth > 0 {
            skipWhitespace(bytes)
            guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
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
            guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw JSONError(.expectedCommaOrEnd, at: position) }
            position += 1
            nesting >>= 1
            depth -= 1
        }
    }

    package mutating func name(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
        guard bytes[position] == UInt8(ascii: "\"") else {
            throw JSONError(bytes[position] == UInt8(ascii: "}") ? .trailingComma : .expectedName, at: position)
        }
        let name = try string(bytes)
        skipWhitespace(bytes)
        guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
        guard bytes[position] == UInt8(ascii: ":") else { throw JSONError(.expectedColon, at: position) }
        position += 1
        return name
    }
}

extension JSONScanner {
    /// Every byte is validated: no control characters (RFC 8259 §7), well-formed UTF-8 (RFC 3629 §4), known escapes, complete surrogate
    /// pairs.
    private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        position += 1
        let start = position
        var isEscaped = false
        while position < bytes.count {
            while position + 8 <= bytes.count {
                let eight = EightBytes(bytes.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
                guard eight.isASCII, !eight.isEscapedInJSON else { break }
                position += 8
            }
            guard position < bytes.count else { break }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return JSONToken(.string, start..<position - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try lenient(skipping: 2) { (scanner) throws(JSONError) in try scanner.escape(bytes) }
            case 0..<0x20:
                guard isLenient else { throw JSONError(.controlCharacter, at: position) }
                isEscaped = true
                position += 1
            case 0x20..<0x80: position += 1
            default:
                let isValid = try lenient(skipping: 1) { (scanner) throws(JSONError) in try scanner.multiByteCharacter(bytes) }
                if !isValid { isEscaped = true }
            }
        }
        throw JSONError(.endOfText, at: position)
    }

    @discardableResult
    private mutating func lenient(
        skipping count: Int, _ read: (inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) -> Bool {
        let start = position
        do {
            try read(&self)
            return true
        } catch {
            guard isLenient, error.reason != .endOfText else { throw error }
            position = start + count
            return false
        }
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        guard position + 1 < bytes.count else { throw JSONError(.endOfText, at: position) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try Self.codeUnit(bytes, at: start)
            position += 6
            switch unit {
            case 0xD800..<0xDC00:
                // The second half of the pair may not have arrived yet.
                for (offset, byte) in #"\u"#.utf8.enumerated() {
                    guard position + offset < bytes.count else { throw JSONError(.endOfText, at: start) }
                    guard bytes[position + offset] == byte else { throw JSONError(.loneSurrogate, at: start) }
                }
                guard case 0xDC00..<0xE000 = try Self.codeUnit(bytes, at: position) else { throw JSONError(.loneSurrogate, at: start) }
                position += 6
            case 0xDC00..<0xE000: throw JSONError(.loneSurrogate, at: start)
            default: break
            }
        default: throw JSONError(.badEscape, at: start)
        }
    }

    static func codeUnit(_ bytes: Span<UInt8>, at offset: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for index in offset + 2..<offset + 6 {
            guard index < bytes.count else { throw JSONError(.endOfText, at: offset) }
            let digit: UInt8
            switch bytes[index] {
            case let byte where byte &- UInt8(ascii: "0") <= 9: digit = byte &- UInt8(ascii: "0")
            case let byte where (byte | 0x20) &- UInt8(ascii: "a") <= 5: digit = (byte | 0x20) &- UInt8(ascii: "a") + 10
            default: throw JSONError(.badEscape, at: offset)
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Reads a character of two to four bytes by the table of RFC 3629 §4: no overlong form, no surrogate, no code point above U+10FFFF.
    private mutating func multiByteCharacter(_ bytes: Span<UInt8>) throws(JSONError) {
        let lead = bytes[position]
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONError(.badUTF8, at: position)
        }
        for offset in 1..<length {
            // The rest of the character may not have arrived yet.
            guard position + offset < bytes.count else { throw JSONError(.endOfText, at: position) }
            let byte = bytes[position + offset]
            guard offset == 1 ? second.contains(byte) : byte & 0xC0 == 0x80 else { throw JSONError(.badUTF8, at: position) }
        }
        position += length
    }
}

extension JSONScanner {
    private mutating func scalar(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
        switch bytes[position] {
        case UInt8(ascii: "t"): return try literal("true", .boolean, bytes)
        case UInt8(ascii: "f"): return try literal("false", .boolean, bytes)
        case UInt8(ascii: "n"): return try literal("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
        default: throw JSONError(.expectedValue, at: position)
        }
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONToken.Kind, _ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        let start = position
        for index in 0..<text.utf8CodeUnitCount {
            guard position < bytes.count else { throw JSONError(.endOfText, at: position) }
            // The loop keeps the index in bounds. The bytes of a StaticString live as long as the process.
            guard bytes[position] == text.utf8Start[index] else { throw JSONError(.badLiteral, at: start) }
            position += 1
        }
        return JSONToken(kind, start..<position)
    }

    /// Reads a number (RFC 8259 §6).
    private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONToken {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits(bytes)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits(bytes)
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
            try digits(bytes)
        }
        // A leading zero such as "01" is invalid: a second value would follow the first.
        if position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { throw JSONError(.badNumber, at: start) }
        return JSONToken(.number, start..<position)
    }

    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        guard position > start else { throw position < bytes.count ? JSONError(.badNumber, at: start) : JSONError(.endOfText, at: start) }
    }
}

/// One JSON value as a range of the bytes that it was read from.
package struct JSONToken: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// An object (RFC 8259 §4).
        case object = "an object"
        /// An array (RFC 8259 §5).
        case array = "an array"
        /// A string (RFC 8259 §7).
        case string = "a string"
        /// A number (RFC 8259 §6).
        case number = "a number"
        case boolean = "a boolean"
        case null = "null"
        case invalid = "not a JSON value"
    }

    package var kind: Kind
    package var range: Range<Int>
    package var isEscaped: Bool

    package init(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
        self.kind = kind
        self.range = range
        self.isEscaped = isEscaped
    }
}

/// The reason why bytes are not one JSON text (RFC 8259), and the offset of the error.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: String, Sendable, Hashable {
        case endOfText = "ends too early"
        case expectedValue = "a value is expected"
        case expectedObject = "an object is expected"
        case expectedArray = "an array is expected"
        case expectedName = "a name in double quotes is expected"
        case expectedColon = "a colon is expected"
        case expectedCommaOrEnd = "a comma or the end of the object or array is expected"
        case trailingComma = "a comma precedes the end: remove it"
        case trailingBytes = "something follows the value"
        /// A number violates the syntax, such as `01` or `1.` (RFC 8259 §6).
        case badNumber = "not a number"
        case badLiteral = "neither true, false nor null"
        /// A backslash in a string begins no valid escape (RFC 8259 §7).
        case badEscape = "an invalid escape"
        case loneSurrogate = "half of a surrogate pair"
        /// A string contains a control character without an escape (RFC 8259 §7).
        case controlCharacter = "a control character in a string"
        /// A string contains bytes that are not UTF-8 (RFC 3629 §4).
        case badUTF8 = "not UTF-8"
        case tooDeep = "nested too deeply"
    }

    package var reason: Reason
    package var offset: Int

    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { reason.rawValue }
}
