internal import Fetch
internal import Glibc

/// Dates of HTTP in the preferred form (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970-01-01 UTC; nil for any other form.
    static func seconds(_ field: String) -> Int? {
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
        return timegm(&parts)
    }

    static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// `Last-Modified`, where it tells one version from another for sure (RFC 9110 §8.8.2.2): it was a second old by the origin's own clock.
    /// What changes twice within a second has the same date both times.
    static func strongModification(_ headers: FetchHeaders) -> String? {
        guard let field = headers["last-modified"], let modified = seconds(field), let date = headers["date"].flatMap({ seconds($0) }),
            date - modified >= 1
        else { return nil }
        return field
    }

    /// `Retry-After` (RFC 9110 §10.2.3): how long to wait; nil for what is neither a number of seconds nor a date.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    static func pause(_ field: String, now: Int) -> Duration? {
        if let seconds = number(field[...], digits: 1...10) { return .seconds(seconds) }
        return seconds(field).map { .seconds(max(0, $0 - now)) }
    }
}
