/// Dates as HTTP writes them (RFC 9110, 5.6.7): written as IMF-fixdate, read in all three forms. Seconds since 1970, UTC.
enum HTTPDate {
    /// Bytes of an IMF-fixdate, always.
    static let length = 29

    private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)
    private static let days = Array("ThuFriSatSunMonTueWed".utf8)

    /// Writes `second` as IMF-fixdate into the first ``length`` bytes.
    static func write(_ second: Int64, into text: UnsafeMutableRawBufferPointer) {
        guard text.count >= length else { return }
        // Years 1 to 9999 fit the four digits.
        let clamped = min(max(second, -62_135_596_800), 253_402_300_799)
        let day = clamped >= 0 ? clamped / 86_400 : (clamped - 86_399) / 86_400
        let time = clamped - day * 86_400
        let (year, month, dayOfMonth) = civil(day)
        let weekday = Int(((day % 7) + 7) % 7)
        var index = 0
        func put(_ byte: UInt8) {
            text[index] = byte
            index += 1
        }
        func put(_ number: Int64, digits: Int) {
            var divisor: Int64 = digits == 4 ? 1000 : 10
            while divisor > 0 {
                put(0x30 + UInt8(number / divisor % 10))
                divisor /= 10
            }
        }
        for offset in 0..<3 { put(days[weekday * 3 + offset]) }
        put(.comma)
        put(.space)
        put(dayOfMonth, digits: 2)
        put(.space)
        for offset in 0..<3 { put(months[Int(month - 1) * 3 + offset]) }
        put(.space)
        put(year, digits: 4)
        put(.space)
        put(time / 3600, digits: 2)
        put(.colon)
        put(time / 60 % 60, digits: 2)
        put(.colon)
        put(time % 60, digits: 2)
        for byte in [UInt8.space, 0x47, 0x4D, 0x54] { put(byte) }
    }

    static func string(_ second: Int64) -> String {
        withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { text in
            write(second, into: text)
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Reads IMF-fixdate, RFC 850 and asctime dates; nil for anything else.
    static func parse(_ text: ByteView, now: Int64) -> Int64? {
        if text.count == length, text[3] == .comma {
            return combine(
                year: number(text, 12..<16), month: month(text, 8), day: number(text, 5..<7), time: text, at: 17,
                isRight: text[4] == .space && text[7] == .space && text[11] == .space && text[16] == .space
                    && text.part(25..<29).isEqual(" GMT"))
        }
        if text.count == 24, text[3] == .space {
            let day = text[8] == .space ? number(text, 9..<10) : number(text, 8..<10)
            return combine(
                year: number(text, 20..<24), month: month(text, 4), day: day, time: text, at: 11,
                isRight: text[7] == .space && text[10] == .space && text[19] == .space)
        }
        guard let comma = text.bytes.firstIndex(of: .comma), comma >= 6, comma <= 9, text.count == comma + 24 else { return nil }
        let rest = text.part(comma + 1..<text.count)
        let short = number(rest, 8..<10).map { two -> Int64 in
            // A year that seems more than 50 years ahead is of the past century.
            let current = civil(now / 86_400).year
            let guess = current / 100 * 100 + two
            return guess > current + 50 ? guess - 100 : guess
        }
        return combine(
            year: short, month: month(rest, 4), day: number(rest, 1..<3), time: rest, at: 11,
            isRight: rest[0] == .space && rest[3] == 0x2D && rest[7] == 0x2D && rest[10] == .space && rest.part(19..<23).isEqual(" GMT"))
    }

    private static func number(_ text: ByteView, _ range: Range<Int>) -> Int64? {
        text.part(range).decimal.map(Int64.init)
    }

    private static func month(_ text: ByteView, _ start: Int) -> Int64? {
        (0..<12).first { index in (0..<3).allSatisfy { text[start + $0] == months[index * 3 + $0] } }.map { Int64($0 + 1) }
    }

    private static func combine(year: Int64?, month: Int64?, day: Int64?, time: ByteView, at start: Int, isRight: Bool) -> Int64? {
        guard isRight, let year, let month, let day, day >= 1, day <= 31, time[start + 2] == .colon, time[start + 5] == .colon,
            let hour = number(time, start..<start + 2), let minute = number(time, start + 3..<start + 5),
            let second = number(time, start + 6..<start + 8), hour < 24, minute < 60, second <= 60
        else { return nil }
        return dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Days since 1970-01-01 in the Gregorian calendar, counted in eras of 400 years that start in March.
    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
