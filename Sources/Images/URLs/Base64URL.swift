/// RFC 4648 section 5 without padding. Decoding accepts the canonical form only, so that one source has one spelling.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var buffer: UInt32 = 0
        var held = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet[Int(buffer >> UInt32(held) & 63)])
            }
        }
        if held > 0 { text.append(alphabet[Int(buffer << UInt32(6 - held) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for a character outside the alphabet, an impossible length, or bits set behind the last byte.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var buffer: UInt32 = 0
        var held = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            buffer = buffer << 6 | value
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(held)))
            }
        }
        return buffer & (1 << UInt32(held) - 1) == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - 65)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - 71)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character + 4)
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
