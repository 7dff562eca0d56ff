/// The elements of one JSON array, read strictly and kept as places in the bytes they came from. They are checked, and not taken apart.
public struct JSONArray: Sendable {
    public let bytes: [UInt8]
    public let elements: [JSONToken]

    /// Reads the whole of `bytes` as one array.
    public init(_ bytes: [UInt8]) throws(JSONFault) {
        let span = bytes.span
        var scanner = JSONScanner()
        scanner.skipWhitespace(span)
        guard scanner.position < span.count else { throw JSONFault(.endOfText, at: scanner.position) }
        guard span[scanner.position] == UInt8(ascii: "[") else { throw JSONFault(.expectedArray, at: scanner.position) }
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
            guard scanner.position < span.count else { throw JSONFault(.endOfText, at: scanner.position) }
            switch span[scanner.position] {
            case UInt8(ascii: ","): break
            case UInt8(ascii: "]"): isOpen = false
            default: throw JSONFault(.expectedCommaOrEnd, at: scanner.position)
            }
            scanner.position += 1
        }
        scanner.skipWhitespace(span)
        guard scanner.position == span.count else { throw JSONFault(.trailingBytes, at: scanner.position) }
        self.bytes = bytes
        self.elements = elements
    }

    /// The bytes of an element; of a string those between its quotes.
    public func bytes(of element: JSONToken) -> [UInt8] {
        Array(bytes[element.range])
    }
}
