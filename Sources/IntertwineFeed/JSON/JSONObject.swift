/// The members of one JSON object, read strictly and kept as places in the bytes they came from.
///
/// Nested values are checked, and not taken apart. A name that occurs twice is legal JSON whose meaning RFC 8259 §4 leaves open:
/// reading such an object succeeds, asking it for that name through ``ItemFields`` fails.
public struct JSONObject: Sendable {
    public let bytes: [UInt8]
    public let members: [(name: JSONToken, value: JSONToken)]
    /// Where the object stands in ``bytes``.
    public let range: Range<Int>

    /// Reads the whole of `bytes` as one object.
    public init(_ bytes: [UInt8]) throws(JSONError) {
        try self.init(bytes, at: 0)
        var scanner = JSONScanner(at: range.upperBound)
        scanner.skipWhitespace(bytes.span)
        guard scanner.position == bytes.count else { throw JSONError(.trailingBytes, at: scanner.position) }
    }

    /// Reads the object that begins at `offset` (whitespace before it is skipped) and leaves what follows it alone.
    init(_ bytes: [UInt8], at offset: Int) throws(JSONError) {
        let span = bytes.span
        var scanner = JSONScanner(at: offset)
        scanner.skipWhitespace(span)
        let start = scanner.position
        guard start < span.count else { throw JSONError(.endOfText, at: start) }
        guard span[start] == UInt8(ascii: "{") else { throw JSONError(.expectedObject, at: start) }
        scanner.position += 1
        var members: [(name: JSONToken, value: JSONToken)] = []
        members.reserveCapacity(8)
        scanner.skipWhitespace(span)
        if scanner.position < span.count, span[scanner.position] == UInt8(ascii: "}") {
            scanner.position += 1
        } else {
            var isOpen = true
            while isOpen {
                scanner.skipWhitespace(span)
                let name = try scanner.name(span)
                scanner.skipWhitespace(span)
                let value = try scanner.value(span)
                members.append((name, value))
                scanner.skipWhitespace(span)
                guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
                switch span[scanner.position] {
                case UInt8(ascii: ","): break
                case UInt8(ascii: "}"): isOpen = false
                default: throw JSONError(.expectedCommaOrEnd, at: scanner.position)
                }
                scanner.position += 1
            }
        }
        self.bytes = bytes
        self.members = members
        self.range = start..<scanner.position
    }

    /// The characters of a string, escapes resolved; no copy where it has none.
    public func characters(of token: JSONToken) -> ArraySlice<UInt8> {
        guard token.isEscaped else { return bytes[token.range] }
        return JSONText.unescaped(bytes.span, token.range)[...]
    }

    /// Whether a string has exactly these characters.
    func matches(_ token: JSONToken, _ text: String) -> Bool {
        guard !token.isEscaped else { return characters(of: token).elementsEqual(text.utf8) }
        guard token.range.count == text.utf8.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            let isSame = text.utf8.withContiguousStorageIfAvailable { text in
                var (place, isSame) = (token.range.lowerBound, true)
                for byte in text {
                    isSame = isSame && bytes[place] == byte
                    place += 1
                }
                return isSame
            }
            return isSame ?? bytes[token.range].elementsEqual(text.utf8)
        }
    }
}

/// The elements of one JSON array, read strictly and kept as places in the bytes they came from. They are checked, and not taken apart.
package struct JSONArray: Sendable {
    package let bytes: [UInt8]
    package let elements: [JSONToken]

    /// Reads the whole of `bytes` as one array.
    package init(_ bytes: [UInt8]) throws(JSONError) {
        let span = bytes.span
        var scanner = JSONScanner()
        scanner.skipWhitespace(span)
        guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
        guard span[scanner.position] == UInt8(ascii: "[") else { throw JSONError(.expectedArray, at: scanner.position) }
        scanner.position += 1
        scanner.skipWhitespace(span)
        var elements: [JSONToken] = []
        var isOpen = true
        if scanner.position < span.count, span[scanner.position] == UInt8(ascii: "]") {
            scanner.position += 1
            isOpen = false
        }
        while isOpen {
            scanner.skipWhitespace(span)
            elements.append(try scanner.value(span))
            scanner.skipWhitespace(span)
            guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
            switch span[scanner.position] {
            case UInt8(ascii: ","): break
            case UInt8(ascii: "]"): isOpen = false
            default: throw JSONError(.expectedCommaOrEnd, at: scanner.position)
            }
            scanner.position += 1
        }
        scanner.skipWhitespace(span)
        guard scanner.position == span.count else { throw JSONError(.trailingBytes, at: scanner.position) }
        self.bytes = bytes
        self.elements = elements
    }

    /// The bytes of an element; of a string those between its quotes.
    package func bytes(of element: JSONToken) -> [UInt8] {
        Array(bytes[element.range])
    }
}
