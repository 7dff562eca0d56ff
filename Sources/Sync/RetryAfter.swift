internal import Glibc

/// The `Retry-After` field (RFC 9110 §10.2.3).
enum RetryAfter {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// How long to wait; nil for what is neither a number of seconds nor a date in the preferred form (§5.6.7).
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    static func duration(_ field: String, now: Int) -> Duration? {
        if let seconds = number(field[...], digits: 1...10) { return .seconds(seconds) }
        // Sun, 06 Nov 1994 08:49:37 GMT
        let words = field.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].count == 4, words[0].hasSuffix(","), words[5] == "GMT",
            let month = months.firstIndex(of: String(words[2])), let day = number(words[1], digits: 2...2),
            let year = number(words[3], digits: 4...4)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2...2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var parts = tm()
        parts.tm_year = Int32(year - 1_900)
        parts.tm_mon = Int32(month)
        parts.tm_mday = Int32(day)
        parts.tm_hour = Int32(hour)
        parts.tm_min = Int32(minute)
        parts.tm_sec = Int32(second)
        return .seconds(max(0, timegm(&parts) - now))
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
