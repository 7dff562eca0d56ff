internal import IntertwinePrimitives

/// JSON as text: whether bytes are that, and the way between the characters of a string and how JSON writes them.
public enum JSONText {
    /// Whether the whole of `bytes` is one value, of whatever kind.
    package static func isWhole(_ bytes: [UInt8]) -> Bool {
        let span = bytes.span
        var scanner = JSONScanner()
        scanner.skipWhitespace(span)
        guard (try? scanner.value(span)) != nil else { return false }
        scanner.skipWhitespace(span)
        return scanner.position == span.count
    }

    /// Appends a string with its quotes, escaping only what RFC 8259 §7 says must be: so equal strings have equal bytes.
    public static func append<Characters: Collection<UInt8>>(_ characters: Characters, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        // Most strings hold nothing to escape, and are copied as a whole.
        guard characters.contains(where: isEscaped) else {
            bytes.append(contentsOf: characters)
            return
        }
        for byte in characters {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case 0x0D: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
            case 0x09: bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                Hexadecimal.append(UInt64(byte), digits: 2, to: &bytes)
            default: bytes.append(byte)
            }
        }
    }

    @inline(__always)
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Resolves the escapes of a string that a ``JSONScanner`` has checked.
    static func unescaped(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
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

    /// Appends the character of `\uXXXX`, or of the pair of them that a surrogate needs; returns how many bytes it was written in.
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
