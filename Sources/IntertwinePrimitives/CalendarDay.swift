/// A day of the proleptic Gregorian calendar in UTC, written as an RFC 3339 §5.6 `full-date`: `2026-11-21`.
package struct CalendarDay: Hashable, Comparable, Sendable {
    package static let range = CalendarDay(number: -719_528)...CalendarDay(number: 2_932_896)

    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    package init(ofSecond second: Int64) {
        number = second.floored(by: 86_400).quotient
    }

    package init?(year: Int, month: Int, day: Int) {
        guard (0...9_999).contains(year), (1...12).contains(month), (1...Self.days(of: month, in: year)).contains(day) else { return nil }
        // The calculation uses years that begin in March, so that the leap day comes last, and eras of 400 years.
        let shifted = Int64(month <= 2 ? year - 1 : year)
        let (era, yearOfEra) = shifted.floored(by: 400)
        let dayOfYear = (153 * Int64(month + (month > 2 ? -3 : 9)) + 2) / 5 + Int64(day) - 1
        number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    package init?(_ text: some StringProtocol) {
        self.init(bytes: text.utf8)
    }

    init?(bytes: some Collection<UInt8>) {
        var rest = DigitReader(bytes)
        guard let year = rest.number(4), rest.skip("-"), let month = rest.number(2), rest.skip("-"), let day = rest.number(2),
            rest.isAtEnd
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    package var date: (year: Int, month: Int, day: Int) {
        let number = min(max(number, Self.range.lowerBound.number), Self.range.upperBound.number)
        let (era, dayOfEra) = (number + 719_468).floored(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), Int(month), Int(dayOfYear - (153 * shifted + 2) / 5 + 1))
    }

    var dayOfWeek: Int { Int(number.floored(by: 7).remainder) }

    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package func append(to bytes: inout [UInt8]) {
        let (year, month, day) = date
        bytes.append(decimal: year, digits: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(decimal: month, digits: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(decimal: day, digits: 2)
    }

    package static func < (one: CalendarDay, other: CalendarDay) -> Bool {
        one.number < other.number
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Returns quotient and remainder of a floored division: the remainder is never negative.
    func floored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    @inline(__always)
    mutating func append(decimal number: Int, digits: Int) {
        var power = 1
        for _ in 1..<digits { power *= 10 }
        while power > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / power % 10))
            power /= 10
        }
    }
}

/// A reader of texts with fixed positions: a given number of digits, then a given character.
struct DigitReader<Bytes: Collection<UInt8>> {
    private var rest: Bytes.SubSequence
    private let ignoresCase: Bool

    init(_ text: Bytes, ignoresCase: Bool = false) {
        rest = text[...]
        self.ignoresCase = ignoresCase
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let byte = rest.first, byte &- UInt8(ascii: "0") <= 9 else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            rest = rest.dropFirst()
        }
        return value
    }

    mutating func digits() -> Int {
        let digits = rest.prefix { $0 &- UInt8(ascii: "0") <= 9 }
        rest = rest[digits.endIndex...]
        return digits.count
    }

    mutating func skip(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes in
            guard rest.starts(with: bytes, by: matches) else { return false }
            rest = rest.dropFirst(bytes.count)
            return true
        }
    }

    private func matches(_ byte: UInt8, _ wanted: UInt8) -> Bool {
        if byte == wanted { return true }
        guard ignoresCase, byte ^ wanted == 0x20 else { return false }
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    mutating func name(of names: [StaticString]) -> Int? {
        names.indices.first { skip(names[$0]) }
    }
}
