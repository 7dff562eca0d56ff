/// HTTP dates (RFC 9110 §5.6.7) as seconds since 1970-01-01 UTC: written as IMF-fixdate, read in all three formats.
package enum HTTPDate {
    private static let months: [StaticString] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// The list begins with Thursday, because 1970-01-01 was a Thursday.
    private static let days: [StaticString] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let longDayEnds: [StaticString] = ["rsday, ", "day, ", "urday, ", "day, ", "day, ", "sday, ", "nesday, "]

    package static func text(_ second: Int64) -> String {
        var bytes: [UInt8] = []
        append(second, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func append(_ second: Int64, to bytes: inout [UInt8]) {
        let (day, time) = Timestamp.clamped(second).floored(by: 86_400)
        let calendar = CalendarDay(number: day)
        let date = calendar.date
        func append(_ text: StaticString) { text.withUTF8Buffer { bytes.append(contentsOf: $0) } }
        append(days[calendar.dayOfWeek])
        append(", ")
        bytes.append(decimal: date.day, digits: 2)
        append(" ")
        append(months[date.month - 1])
        append(" ")
        bytes.append(decimal: date.year, digits: 4)
        append(" ")
        Timestamp.append(timeOfDay: Int(time), to: &bytes)
        append(" GMT")
    }

    /// Parses IMF-fixdate, RFC 850 and asctime dates, with names and zone in either case, as some origins write them.
    package static func parse(_ text: String, now: Int64) -> Int64? {
        read(text.utf8, now: now)
    }

    package static func parse(_ text: UnsafeBufferPointer<UInt8>, now: Int64) -> Int64? {
        read(text, now: now)
    }

    /// Returns the delay in seconds of a `Retry-After` field (RFC 9110 §10.2.3); nil if it is neither a number of seconds nor a date.
    package static func delay(retryAfter field: String, now: Int64) -> Int64? {
        if (1...10).contains(field.utf8.count), field.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int64(field) }
        return parse(field, now: now).map { max(0, $0 - now) }
    }

    private static func read(_ text: some Collection<UInt8>, now: Int64) -> Int64? {
        var rest = DigitReader(text, ignoresCase: true)
        // The day of the week follows from the date, so a wrong one is ignored.
        guard let day = rest.name(of: days) else { return nil }
        if rest.skip(", ") { return fixdate(&rest) }
        if rest.skip(" ") { return asctime(&rest) }
        return rest.skip(longDayEnds[day]) ? obsolete(&rest, now: now) : nil
    }

    private static func fixdate(_ rest: inout DigitReader<some Collection<UInt8>>) -> Int64? {
        guard let day = rest.number(2), rest.skip(" "), let month = rest.name(of: months), rest.skip(" "), let year = rest.number(4),
            rest.skip(" "), let time = time(&rest), rest.skip(" GMT"), rest.isAtEnd
        else { return nil }
        return second(year, month, day, time)
    }

    private static func asctime(_ rest: inout DigitReader<some Collection<UInt8>>) -> Int64? {
        guard let month = rest.name(of: months), rest.skip(" "), let day = rest.number(rest.skip(" ") ? 1 : 2), rest.skip(" "),
            let time = time(&rest), rest.skip(" "), let year = rest.number(4), rest.isAtEnd
        else { return nil }
        return second(year, month, day, time)
    }

    private static func obsolete(_ rest: inout DigitReader<some Collection<UInt8>>, now: Int64) -> Int64? {
        guard let day = rest.number(2), rest.skip("-"), let month = rest.name(of: months), rest.skip("-"), let short = rest.number(2),
            rest.skip(" "), let time = time(&rest), rest.skip(" GMT"), rest.isAtEnd
        else { return nil }
        // The year is the latest one with these digits that is at most 50 years ahead. The limit is exact to the second and can fall within a year.
        let today = CalendarDay(ofSecond: now).date
        let last = today.year + 50
        let year = last - (last - short) % 100
        let isAhead =
            year == last
            && (month + 1, day, time) > (today.month, today.day, Timestamp.clamped(now).floored(by: 86_400).remainder)
        return second(isAhead ? year - 100 : year, month, day, time)
    }

    private static func time(_ rest: inout DigitReader<some Collection<UInt8>>) -> Int64? {
        guard let hour = rest.number(2), hour < 24, rest.skip(":"), let minute = rest.number(2), minute < 60, rest.skip(":"),
            let second = rest.number(2), second <= 60
        else { return nil }
        return Int64(hour * 3_600 + minute * 60 + second)
    }

    private static func second(_ year: Int, _ month: Int, _ day: Int, _ time: Int64) -> Int64? {
        CalendarDay(year: year, month: month + 1, day: day).map { $0.number * 86_400 + time }
    }
}
