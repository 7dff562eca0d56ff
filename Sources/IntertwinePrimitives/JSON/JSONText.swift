/// Functions for JSON text: validation and unescaping.
package enum JSONText {
    /// Returns true if all of `bytes` is one JSON value of any type.
    package static func isComplete(_ bytes: [UInt8]) -> Bool {
        let span = bytes.span
        var scanner = JSONScanner()
        scanner.skipWhitespace(span)
        guard (try? scanner.value(span)) != nil else { return false }
        scanner.skipWhitespace(span)
        return scanner.position == span.count
    }

    /// Resolves the escapes of a string that a ``JSONScanner`` has validated.
    package static func unescaped(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
                result.append(bytes[index])
                index += 1
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"): index += appendCodePoint(bytes, at: index, to: &result) - 2
            case let byte: result.append(byte)
            }
            index += 2
        }
        return result
    }

    /// Appends the character of `\uXXXX`, or of a surrogate pair of two escapes.
    ///
    /// - Returns: the length of the escape or escapes in bytes.
    private static func appendCodePoint(_ bytes: Span<UInt8>, at offset: Int, to result: inout [UInt8]) -> Int {
        guard let first = try? JSONScanner.codeUnit(bytes, at: offset) else { return 2 }
        var scalar = UInt32(first)
        var length = 6
        if case 0xD800..<0xDC00 = first, let second = try? JSONScanner.codeUnit(bytes, at: offset + 6), case 0xDC00..<0xE000 = second {
            scalar = 0x10000 + (scalar - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            length = 12
        }
        result.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
        return length
    }
}
