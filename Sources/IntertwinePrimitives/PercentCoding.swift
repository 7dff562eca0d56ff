/// Percent-encoding (RFC 3986 §2.1): `%` and two hexadecimal digits for a byte of UTF-8.
package enum PercentCoding {
    package struct Kept: Sendable {
        /// The unreserved characters: letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3).
        package static let unreserved = Kept { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
            default: false
            }
        }
        package static let segment = Kept { unreserved.contains($0) || $0 == UInt8(ascii: ":") }
        /// The characters of a path that is escaped already (RFC 3986 §3.3).
        package static let path = Kept { segment.contains($0) || "!$&'()*+,;=@%/".utf8.contains($0) }
        package static let ascii = Kept { $0 < 0x80 }

        private var bits: (UInt64, UInt64) = (0, 0)

        private init(_ isAllowed: (UInt8) -> Bool) {
            for byte in UInt8(0)..<64 where isAllowed(byte) { bits.0 |= 1 << UInt64(byte) }
            for byte in UInt8(64)..<128 where isAllowed(byte) { bits.1 |= 1 << UInt64(byte - 64) }
        }

        package func contains(_ byte: UInt8) -> Bool {
            byte < 128 && (byte < 64 ? bits.0 : bits.1) >> UInt64(byte & 63) & 1 == 1
        }
    }

    package static func encode(_ text: String, keeping allowed: Kept = .unreserved) -> String {
        isUnchanged(text, allowed) ? text : encode(text.utf8, keeping: allowed)
    }

    /// Returns true if no character of a text would be escaped.
    package static func isUnchanged(_ text: String, _ allowed: Kept) -> Bool {
        let isAllowed = text.utf8.withContiguousStorageIfAvailable { bytes in bytes.allSatisfy { allowed.contains($0) } }
        return isAllowed ?? text.utf8.allSatisfy(allowed.contains)
    }

    package static func encode(_ bytes: some Sequence<UInt8>, keeping allowed: Kept) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.underestimatedCount + 16)
        for byte in bytes {
            if allowed.contains(byte) {
                encoded.append(byte)
            } else {
                encoded.append(percent)
                encoded.append((byte >> 4).hexadecimalDigit(isUpperCase: true))
                encoded.append(byte.hexadecimalDigit(isUpperCase: true))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    package static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(percent) else { return String(text) }
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            guard byte == percent else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next()?.hexadecimalValue, let low = iterator.next()?.hexadecimalValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the text with the escapes of unreserved characters decoded, which does not change its meaning (RFC 3986 §6.2.2.2).
    package static func normalised(_ text: Substring) -> Substring {
        guard text.utf8.contains(percent) else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == percent, let high = rest.first?.hexadecimalValue, let low = rest.dropFirst().first?.hexadecimalValue,
                Kept.unreserved.contains(high << 4 | low)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return Substring(String(decoding: bytes, as: UTF8.self))
    }

    private static let percent = UInt8(ascii: "%")
}
