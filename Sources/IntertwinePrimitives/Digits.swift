/// Hexadecimal encoding of bytes and numbers (RFC 4648 §8): written in lower case, read in either case.
package enum Hexadecimal {
    @inlinable package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            digits.append((byte >> 4).hexadecimalDigit())
            digits.append(byte.hexadecimalDigit())
        }
        return String(decoding: digits, as: UTF8.self)
    }

    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var digits = text.utf8.makeIterator()
        while let first = digits.next() {
            guard let high = first.hexadecimalValue, let low = digits.next()?.hexadecimalValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension UInt8 {
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self &- 0x30
        case 0x41...0x46: self &- 0x37
        case 0x61...0x66: self &- 0x57
        default: nil
        }
    }

    @inlinable @inline(__always) package func hexadecimalDigit(isUpperCase: Bool = false) -> UInt8 {
        let value = self & 15
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: isUpperCase ? "A" : "a") + value - 10
    }
}

extension [UInt8] {
    package mutating func append(hexadecimal number: UInt64, digits: Int) {
        for index in stride(from: digits - 1, through: 0, by: -1) {
            append(UInt8(truncatingIfNeeded: number >> (4 * UInt64(index))).hexadecimalDigit())
        }
    }

    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        // A number of 64 bits has at most 20 characters.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.count
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<digits.count { append(digits[index]) }
    }
}
