/// Dates as HTTP writes them (RFC 9110 §5.6.7): written as IMF-fixdate, read in all three forms. Seconds since 1970-01-01 UTC.
package enum HTTPDate {
    /// Bytes of an IMF-fixdate, always.
    package static let length = 29

    private static let months: [StaticString] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// From Thursday on: 1970-01-01 was one.
    private static let days: [StaticString] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    /// What the long names have behind the short ones.
    private static let longDayEnds: [StaticString] = ["rsday, ", "day, ", "urday, ", "day, ", "day, ", "sday, ", "nesday, "]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`. Moments outside the years 0 to 9999 are written as the nearest one inside.
    package static func text(_ second: Int64) -> String {
        var bytes: [UInt8] = []
        append(second, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``length`` bytes.
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

    /// Reads IMF-fixdate, RFC 850 and asctime dates, names and zone in either case, as some origins write them; nil for anything else, and for days that the calendar does not have.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC. A year of two digits that seems more than 50 years ahead of it is of the past.
    package static func parse(_ text: String, now: Int64) -> Int64? {
        read(text.utf8, now: now)
    }

    package static func parse(_ text: UnsafeBufferPointer<UInt8>, now: Int64) -> Int64? {
        read(text, now: now)
    }

    private static func read(_ text: some Collection<UInt8>, now: Int64) -> Int64? {
        var rest = DigitReader(text, ignoresCase: true)
        // Which day of the week it is follows from the date; one that is wrong changes nothing.
        guard let day = rest.name(of: days) else { return nil }
        if rest.skip(", ") { return fixdate(&rest) }
        if rest.skip(" ") { return asctime(&rest) }
        return rest.skip(longDayEnds[day]) ? obsolete(&rest, now: now) : nil
    }

    /// `06 Nov 1994 08:49:37 GMT`
    private static func fixdate(_ rest: inout DigitReader<some Collection<UInt8>>) -> Int64? {
        guard let day = rest.number(2), rest.skip(" "), let month = rest.name(of: months), rest.skip(" "), let year = rest.number(4),
            rest.skip(" "), let time = time(&rest), rest.skip(" GMT"), rest.isAtEnd
        else { return nil }
        return second(year, month, day, time)
    }

    /// `Nov  6 08:49:37 1994`
    private static func asctime(_ rest: inout DigitReader<some Collection<UInt8>>) -> Int64? {
        guard let month = rest.name(of: months), rest.skip(" "), let day = rest.number(rest.skip(" ") ? 1 : 2), rest.skip(" "),
            let time = time(&rest), rest.skip(" "), let year = rest.number(4), rest.isAtEnd
        else { return nil }
        return second(year, month, day, time)
    }

    /// `06-Nov-94 08:49:37 GMT`
    private static func obsolete(_ rest: inout DigitReader<some Collection<UInt8>>, now: Int64) -> Int64? {
        guard let day = rest.number(2), rest.skip("-"), let month = rest.name(of: months), rest.skip("-"), let short = rest.number(2),
            rest.skip(" "), let time = time(&rest), rest.skip(" GMT"), rest.isAtEnd
        else { return nil }
        // The latest year with these digits that is not more than 50 years ahead: to the second, so that of one year only a part may be.
        let today = CalendarDay(ofSecond: now).date
        let last = today.year + 50
        let year = last - (last - short) % 100
        let isAhead =
            year == last
            && (month + 1, day, time) > (today.month, today.day, Timestamp.clamped(now).floored(by: 86_400).remainder)
        return second(isAhead ? year - 100 : year, month, day, time)
    }

    /// `08:49:37`, as seconds. A leap second is the one that follows.
    private static func time(_ rest: inout DigitReader<some Collection<UInt8>>) -> Int64? {
        guard let hour = rest.number(2), hour < 24, rest.skip(":"), let minute = rest.number(2), minute < 60, rest.skip(":"),
            let second = rest.number(2), second <= 60
        else { return nil }
        return Int64(hour * 3_600 + minute * 60 + second)
    }

    /// - Parameter month: from 0.
    private static func second(_ year: Int, _ month: Int, _ day: Int, _ time: Int64) -> Int64? {
        CalendarDay(year: year, month: month + 1, day: day).map { $0.number * 86_400 + time }
    }
}
