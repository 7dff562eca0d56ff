/// Whole numbers as decimal digits.
package enum Decimal {
    package static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        // No number of 64 bits has more.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.count
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<digits.count { bytes.append(digits[index]) }
    }
}
