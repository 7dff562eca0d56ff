extension JSONScanner {
    /// A number or one of the three literals.
    mutating func scalar(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
        guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
        switch bytes[position] {
        case UInt8(ascii: "t"): return try literal("true", .boolean, bytes)
        case UInt8(ascii: "f"): return try literal("false", .boolean, bytes)
        case UInt8(ascii: "n"): return try literal("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
        default: throw JSONFault(.expectedValue, at: position)
        }
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONToken.Kind, _ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
        let start = position
        for index in 0..<text.utf8CodeUnitCount {
            guard position < bytes.count else { throw JSONFault(.endOfText, at: position) }
            // In bounds by the loop; a StaticString's bytes live as long as the process.
            guard bytes[position] == text.utf8Start[index] else { throw JSONFault(.badLiteral, at: start) }
            position += 1
        }
        return JSONToken(kind, start..<position)
    }

    /// RFC 8259 §6.
    private mutating func number(_ bytes: Span<UInt8>) throws(JSONFault) -> JSONToken {
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
        // "01" and the like: the value would be followed by another.
        if position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { throw JSONFault(.badNumber, at: start) }
        return JSONToken(.number, start..<position)
    }

    /// One digit or more.
    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONFault) {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        guard position > start else { throw position < bytes.count ? JSONFault(.badNumber, at: start) : JSONFault(.endOfText, at: start) }
    }
}
