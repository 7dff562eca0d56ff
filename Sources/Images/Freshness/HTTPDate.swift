/// Dates of HTTP (RFC 9110 section 5.6.7), as seconds since 1970.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Reads all three forms. Nil for anything else.
    static func parse(_ text: String) -> Int64? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT
            return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
        case 4 where words[3] == "GMT":  // Sunday, 06-Nov-94 08:49:37 GMT
            let date = words[1].split(separator: "-").map(String.init)
            guard date.count == 3, let year = Int(date[2]), (0...99).contains(year) else { return nil }
            return seconds(day: date[0], month: date[1], year: String(year < 70 ? 2_000 + year : 1_900 + year), time: words[2])
        case 5:  // Sun Nov  6 08:49:37 1994
            return seconds(day: words[2], month: words[1], year: words[4], time: words[3])
        default:
            return nil
        }
    }

    static func format(_ seconds: Int64) -> String {
        let (days, rest) = floored(seconds, by: 86_400)
        let date = civil(days)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let weekday = weekdays[Int(floored(days, by: 7).1)]
        let time = "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(time) GMT"
    }

    private static func seconds(day: String, month: String, year: String, time: String) -> Int64? {
        let clock = time.split(separator: ":").compactMap { Int64($0) }
        guard let day = Int64(day), let month = months.firstIndex(of: month), let year = Int64(year), clock.count == 3,
            (1...31).contains(day), (1_900...9_999).contains(year), (0...23).contains(clock[0]), (0...59).contains(clock[1]),
            (0...60).contains(clock[2])
        else { return nil }
        return days(year: year, month: Int64(month) + 1, day: day) * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    }

    /// Days since 1970 in the proleptic Gregorian calendar, counted in years that begin in March: the leap day then comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floored(shifted, by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floored(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func floored(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
