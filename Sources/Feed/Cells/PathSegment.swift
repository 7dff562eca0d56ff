/// Percent-encoding of one segment of a path (RFC 3986 section 3.3).
enum PathSegment {
    private static let plain: [Bool] = {
        var plain = [Bool](repeating: false, count: 256)
        for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:".utf8 { plain[Int(character)] = true }
        return plain
    }()

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Leaves the unreserved characters and the colon of cell ids, and encodes everything else, the slash included.
    static func encode(_ text: String) -> String {
        guard text.utf8.contains(where: { !plain[Int($0)] }) else { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if plain[Int(byte)] {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 0xF)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
