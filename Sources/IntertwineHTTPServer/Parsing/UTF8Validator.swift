/// Checks UTF-8 byte by byte: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
struct UTF8Validator {
    private var missing = 0
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    /// Whether no character is left half.
    var isComplete: Bool { missing == 0 }

    /// False where no text goes on with this byte.
    mutating func accept(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard byte >= lower, byte <= upper else { return false }
            (lower, upper) = (0x80, 0xBF)
            missing -= 1
            return true
        }
        switch byte {
        case 0...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF:
            missing = 2
            if byte == 0xE0 { lower = 0xA0 }
            if byte == 0xED { upper = 0x9F }
        case 0xF0...0xF4:
            missing = 3
            if byte == 0xF0 { lower = 0x90 }
            if byte == 0xF4 { upper = 0x8F }
        default: return false
        }
        return true
    }
}
