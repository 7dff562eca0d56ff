extension JSONScanner {
    /// A string, the position being at its opening quote.
    ///
    /// Every byte is checked: no control characters (RFC 8259 §7), well-formed UTF-8 only (RFC 3629 §4), known escapes, whole surrogate pairs.
    mutating func string(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
        position += 1
        let start = position
        var isEscaped = false
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return JSONToken(.string, start..<position - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape(bytes)
            case 0..<0x20: throw JSONFault(.controlCharacter, at: position)
            case 0x20..<0x80: position += 1
            default: try multiByteCharacter(bytes)
            }
        }
        throw JSONFault(.endOfText, at: position)
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        guard position + 1 < bytes.count else { throw JSONFault(.endOfText, at: position) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try Self.codeUnit(bytes, at: start)
            position += 6
            switch unit {
            case 0xD800..<0xDC00:
                guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u"),
                    case 0xDC00..<0xE000 = try Self.codeUnit(bytes, at: position)
                else { throw JSONFault(.loneSurrogate, at: start) }
                position += 6
            case 0xDC00..<0xE000: throw JSONFault(.loneSurrogate, at: start)
            default: break
            }
        default: throw JSONFault(.badEscape, at: start)
        }
    }

    /// The number in `\uXXXX`, whose backslash stands at `offset`.
    static func codeUnit(_ bytes: Span<UInt8>, at offset: Int) throws(JSONFault) -> UInt16 {
        guard offset + 6 <= bytes.count else { throw JSONFault(.endOfText, at: offset) }
        var unit: UInt16 = 0
        for index in offset + 2..<offset + 6 {
            let digit: UInt8
            switch bytes[index] {
            case let byte where byte &- UInt8(ascii: "0") <= 9: digit = byte &- UInt8(ascii: "0")
            case let byte where (byte | 0x20) &- UInt8(ascii: "a") <= 5: digit = (byte | 0x20) &- UInt8(ascii: "a") + 10
            default: throw JSONFault(.badEscape, at: offset)
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// One character of two to four bytes, by the table of RFC 3629 §4: no overlong form, no surrogate, nothing above U+10FFFF.
    private mutating func multiByteCharacter(_ bytes: Span<UInt8>) throws(JSONFault) {
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
        default: throw JSONFault(.badUTF8, at: position)
        }
        for offset in 1..<length {
            // The rest of the character may not have arrived yet.
            guard position + offset < bytes.count else { throw JSONFault(.endOfText, at: position) }
            let byte = bytes[position + offset]
            guard offset == 1 ? second.contains(byte) : byte & 0xC0 == 0x80 else { throw JSONFault(.badUTF8, at: position) }
        }
        position += length
    }
}
