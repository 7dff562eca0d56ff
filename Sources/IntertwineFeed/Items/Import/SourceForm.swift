internal import Foundation
internal import IntertwinePrimitives

package enum SourceForm: Sendable, Hashable {
    case plain
    case text
    /// A number. Without a declared mark of the fraction, a text with a comma or with groups of digits is not converted.
    case number(decimal: Character? = nil)
    /// A date, or a date with time and offset, from a text or from seconds or milliseconds since 1970.
    case date(zone: TimeZoneName?)

    package struct TimeZoneName: Sendable, Hashable {
        fileprivate let zone: TimeZone

        package init?(_ name: String) {
            let offset = ZoneOffset.seconds(of: name).flatMap { TimeZone(secondsFromGMT: Int($0)) }
            guard let zone = offset ?? TimeZone(identifier: name) else { return nil }
            self.zone = zone
        }
    }

    var isNumber: Bool { if case .number = self { true } else { false } }

    /// The rule of the form, for errors; nil for a text.
    var expectation: String? {
        switch self {
        case .plain, .text: nil
        case .number(nil): "a number such as 12.90 (decimal allows other forms)"
        case .number(let decimal?): "one number with \(decimal) before its fraction"
        case .date(nil): "a date, or a time with an offset (zone is for times without one)"
        case .date(.some): "a date or a time"
        }
    }

    /// Databases and languages write a date for "none" (MySQL 0000-00-00, .NET and Go the year 1), and one for "never" (the year 9999).
    static func isNoDate(_ value: SourceValue, in field: String, as form: SourceForm?) -> Bool {
        let isSchedule = ItemSchedule.times.contains(field)
        let isDate = if case .date = form { true } else { isSchedule && form == nil }
        guard isDate, let text = dateText(of: value) else { return false }
        if text.prefixMatch(of: /000[01][-\/.]?\d\d[-\/.]?\d\d|(?:\/Date\()?-62135596800/) != nil
            || isSchedule && ["0", "false"].contains(text)
        {
            return true
        }
        return field == "expireAt"
            && text.wholeMatch(of: /9999[-\/.]?\d\d[-\/.]?\d\d.*|infinity|never|(?:\/Date\()?253402[23]\d{5}(?:\d{3})?(?:\D.*)?/) != nil
    }

    /// The moment that a day means in the schedule of an item: its start, and its end in `expireAt`. Nil for another text or field.
    func moment(of value: SourceValue, in field: String) -> String? {
        guard ItemSchedule.times.contains(field), let day = text(of: value).flatMap({ CalendarDay($0) }) else { return nil }
        let zone = if case .date(let name?) = self { name.zone } else { TimeZone.gmt }
        return SourceDate.start(of: field == "expireAt" ? CalendarDay(number: day.number + 1) : day, in: zone)
    }

    func text(of value: SourceValue) -> String? {
        switch self {
        case .plain: return value.plain
        case .text: return value.plain.map(HTMLText.text(of:))
        case .number(let decimal):
            guard var plain = value.plain?.trimmingCharacters(in: .whitespacesAndNewlines) else { return nil }
            if let decimal, case .text = value {
                guard let ungrouped = Self.ungrouped(plain, decimal: decimal) else { return nil }
                plain = ungrouped
            }
            // JSON allows neither a plus sign nor leading zeros. A large whole number is no double.
            if let whole = Int64(plain) { return String(whole) }
            guard plain.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(plain), number.isFinite else {
                return nil
            }
            return "\(number)"
        case .date(let zone):
            return Self.dateText(of: value).flatMap { SourceDate.text(of: $0, in: zone?.zone) }
        }
    }

    /// Nil for a text that is too long for a date. Why: regular expressions take seconds for a megabyte.
    private static func dateText(of value: SourceValue) -> String? {
        value.plain.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.flatMap { $0.utf8.count <= 200 ? $0 : nil }
    }

    /// Returns a number such as `-1.234,56 €` or `CHF 12.90` without the letters and currency signs around it and without its groups of
    /// digits, with a full stop. Nil if it has another form.
    private static func ungrouped(_ text: String, decimal: Character) -> String? {
        func isAround(_ character: Character) -> Bool { character.isLetter || character.isCurrencySymbol || character.isWhitespace }
        func areDigits(_ text: Substring, _ count: ClosedRange<Int>) -> Bool {
            count.contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        // A full stop after a letter is that of an abbreviation.
        func unit(before text: Substring) -> Substring {
            var end = text.startIndex
            while end < text.endIndex, isAround(text[end]) || text[end] == "." && text[..<end].last?.isLetter == true {
                end = text.index(after: end)
            }
            return text[end...]
        }
        var rest = unit(before: text[...])
        let sign = ["-", "\u{2212}"].contains(rest.first) ? "-" : ""
        if !sign.isEmpty || rest.first == "+" { rest = unit(before: rest.dropFirst()) }
        let start = rest
        while let last = rest.last, isAround(last) || last == "." && rest.dropLast().last?.isLetter == true { rest.removeLast() }
        guard !multipliers.contains(start[rest.endIndex...].filter(\.isLetter).lowercased()) else { return nil }
        var parts = rest.split(separator: decimal, maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].isEmpty { parts[0] = "0" }
        let fraction = parts.count == 2 ? ".\(parts[1])" : ""
        guard parts.count == 1 || areDigits(parts[1], 1...100) else { return nil }
        guard let mark = parts[0].first(where: { !$0.isASCII || !$0.isNumber }) else {
            return areDigits(parts[0], 1...100) ? "\(sign)\(parts[0])\(fraction)" : nil
        }
        // In India, the groups before the last one have two digits. A first group of 0 is the whole part of a number with another mark.
        let groups = parts[0].split(separator: mark, omittingEmptySubsequences: false)
        let middle = groups.dropFirst().dropLast()
        guard mark != decimal, ".,'’".contains(mark) || mark == " " || mark == "\u{A0}" || mark == "\u{202F}", areDigits(groups[0], 1...3),
            groups[0].first != "0", areDigits(groups[groups.count - 1], 3...3),
            middle.allSatisfy({ areDigits($0, 3...3) })
                || mark == "," && groups[0].utf8.count < 3 && middle.allSatisfy({ areDigits($0, 2...2) })
        else { return nil }
        return "\(sign)\(groups.joined())\(fraction)"
    }

    /// The units after a number that change its value.
    private static let multipliers: Set<String> = ["k", "m", "b", "mn", "bn", "mio", "mrd"]
}

private enum SourceDate {
    static func text(of text: String, in zone: TimeZone?) -> String? {
        if let day = day(text) { return day }
        // Some servers of Microsoft write milliseconds in this form. An offset after them tells only the writer's zone.
        if let match = text.wholeMatch(of: /\/Date\((\d+)(?:[+-]\d{4})?\)\//) { return Double(match.1).flatMap { epoch($0, [(1, 0)]) } }
        // The tables of Google Sheets count months from 0.
        if let match = text.wholeMatch(of: /Date\((\d{4}),(\d\d?),(\d\d?)(?:,(\d\d?),(\d\d?),(\d\d?)(?:,\d+)?)?\)/),
            let month = Int(match.2)
        {
            let time = [match.4, match.5, match.6].compactMap { $0 }.map { $0.count == 1 ? "0\($0)" : "\($0)" }.joined(separator: ":")
            return english("\(match.1)-\(month + 1)-\(match.3) \(time)").flatMap { day($0) ?? local($0, zone) }
        }
        if text.wholeMatch(of: /(?:19[7-9]\d|20\d\d|2100)\d{4}(?:\d{4})?|(?:19|20|21)\d{12}/) != nil { return local(text, zone) }
        if let number = Double(text) { return epoch(number, units) }
        if let found = local(text, zone) ?? numberedDay(text) ?? english(text).flatMap({ day($0) ?? local($0, zone) }) { return found }
        return HTTPDate.parse(text, now: WallClock.now() / 1_000).map { moment(Double($0) * 1_000) }
    }

    static func start(of day: CalendarDay, in zone: TimeZone) -> String? { local("\(day.text)T00:00:00", zone) }

    /// Seconds, and the smaller units, each from the numbers on that are no earlier unit's. Fewer digits are a year or a month.
    private static let units: [(milliseconds: Double, least: Double)] = [(1_000, 1e6), (1, 1e11), (1e-3, 1e14), (1e-6, 1e17)]

    private static func epoch(_ number: Double, _ units: [(milliseconds: Double, least: Double)]) -> String? {
        if number == 0 { return moment(0) }
        let unit = units.last { number >= $0.least }
        return unit.map { number * $0.milliseconds }.flatMap { $0 < latest ? moment($0) : nil }
    }

    /// The years of the zero time of Go and .NET and of the last one of .NET and databases: no date, or no end.
    private static let bounds: Set<Substring> = ["0001", "9999"]

    private static let dayLength: Int64 = 86_400_000
    /// From this number of milliseconds on, in the year 5138, the same number of seconds would be read as milliseconds.
    private static let latest = 1e14

    /// The day of a year or of a week (ISO 8601), such as `2026-121` or `2026-W18-5`.
    private static func numberedDay(_ text: String) -> String? {
        guard let match = text.wholeMatch(of: /(\d{4})-(?:(\d{3})|[Ww](\d\d)-([1-7]))/), let year = Int(match.1),
            let first = CalendarDay(year: year, month: 1, day: 1), let fourth = CalendarDay(year: year, month: 1, day: 4)
        else { return nil }
        if let number = match.2.flatMap({ Int64($0) }) {
            let day = CalendarDay(number: first.number + number - 1)
            return day.date.year == year && number > 0 ? day.text : nil
        }
        guard let week = match.3.flatMap({ Int64($0) }), let number = match.4.flatMap({ Int64($0) }), (1...53).contains(week) else {
            return nil
        }
        // The first week has the fourth of January. The day 0 is a Thursday.
        let monday = fourth.number - ((fourth.number + 3) % 7 + 7) % 7
        let thursday = CalendarDay(number: monday + (week - 1) * 7 + 3)
        return thursday.date.year == year ? CalendarDay(number: thursday.number - 4 + number).text : nil
    }

    private static func day(_ text: String) -> String? {
        guard let match = text.firstMatch(of: /^(\d{4})([-\/.]?)(\d\d)\2(\d\d)$/) else { return nil }
        guard !bounds.contains(match.1) else { return nil }
        let day = "\(match.1)-\(match.3)-\(match.4)"
        // Without marks, other years are more likely a number of seconds.
        guard CalendarDay(day) != nil, !match.2.isEmpty || ("1900"..."2100").contains(String(match.1)) else { return nil }
        return day
    }

    private static func moment(_ milliseconds: Double) -> String {
        let whole = Int64(milliseconds.rounded())
        return whole % 1_000 == 0 ? Timestamp.text(milliseconds: whole) : Timestamp.exactText(milliseconds: whole)
    }

    private static func local(_ text: String, _ zone: TimeZone?) -> String? {
        guard
            let match = text.replacing("\u{2212}", with: "-").firstMatch(
                of:
                    /^(\d{4})[-\/.]?(\d\d)[-\/.]?(\d\d)(?:[Tt]|\ *)(\d\d):?(\d\d)(?::?(\d\d))?(?:[.,](\d+))?\ *(?:([Zz]|UTC|GMT)|([+-]\d\d)(?::?(\d\d))?)?(?:\[[^\]]*\])?$/
            )
        else { return nil }
        guard !bounds.contains(match.1) else { return nil }
        let hasOffset = match.8 != nil || match.9 != nil
        let offset = match.9.map { "\($0):\((match.10 ?? nil) ?? "00")" } ?? "Z"
        let fraction = (match.7 ?? nil).map { ".\($0.prefix(3))" } ?? ""
        let second = (match.6 ?? nil) ?? "00"
        // The end of a day (ISO 8601).
        let isEnd = match.4 == "24" && match.5 == "00" && second == "00" && fraction.allSatisfy { ".0".contains($0) }
        let date =
            "\(match.1)-\(match.2)-\(match.3)T\(isEnd ? "00" : match.4):\(match.5):\(second == "60" ? "59" : second)\(fraction)\(offset)"
        guard let start = Timestamp.milliseconds(of: date) else { return nil }
        let time = isEnd ? start + dayLength : start
        guard !hasOffset else { return moment(Double(time)) }
        guard let zone else { return nil }
        func shift(at milliseconds: Int64) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))) * 1_000
        }
        // As browsers read it: the first of two moments with one local time, and a time that a change skips by the offset before the change.
        let (before, after) = (time - shift(at: time - dayLength), time - shift(at: time + dayLength))
        let isAfter = time - shift(at: before) != before && time - shift(at: after) == after
        return moment(Double(isAfter ? after : before))
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    ]
    private static let days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    /// The zones of RFC 2822 (4.3) and of Europe. Other names have several meanings.
    private static let offsets = [
        "gmt": "Z", "utc": "Z", "ut": "Z", "z": "Z", "est": "-05", "edt": "-04", "cst": "-06", "cdt": "-05", "mst": "-07", "mdt": "-06",
        "pst": "-08", "pdt": "-07", "wet": "Z", "west": "+01", "cet": "+01", "mez": "+01", "cest": "+02", "mesz": "+02", "eet": "+02",
        "eest": "+03",
    ]

    /// Rewrites dates with the day first, English names or a time of twelve hours, in the order of ``local(_:_:)``. Nil for other texts.
    /// Examples are `1.5.2026`, `Fri, 1 May 2026 19:00:00 +0200` (RFC 2822), `May 1st, 2026 at 7:00 PM`, `01-May-2026`, JavaScript's
    /// `Fri May 01 2026 19:00:00 GMT+0200 (Central European Summer Time)` and Go's `2026-05-01 19:00:00 +0200 CEST`.
    private static func english(_ text: String) -> String? {
        var (year, month, day, offset): (String?, Int?, Int?, String?)
        var time: (hour: Int, rest: Substring)?
        let plain = text.lowercased().replacing(/\([^()]*\)/, with: " ").replacing(/(\d)(?:st|nd|rd|th)\b/) { $0.1 }
            .replacing(/\b(\d\d?)-([a-z]+)-(\d+)/) { "\($0.1) \($0.2) \($0.3)" }.replacing(/(\d)([ap]m)\b/) { "\($0.1) \($0.2)" }
            .replacing(/(\d)t(\d)/) { "\($0.1) \($0.2)" }.replacing(/(:\d\d(?:\.\d+)?)(z|[+-]\d\d:?\d\d)\b/) { "\($0.1) \($0.2)" }
        for word in plain.split(whereSeparator: { $0.isWhitespace || $0 == "," }).map(String.init) {
            let isName: (String) -> Bool = { word.count >= 3 && $0.hasPrefix(word) }
            if let number = Int(word), word.utf8.allSatisfy({ $0 >= 0x30 }) {
                if word.count == 4, year == nil {
                    year = word
                } else if word.count <= 2, day == nil {
                    day = number
                } else if word.count == 2, year == nil, month != nil {
                    // A year of two digits (RFC 2822, 4.3).
                    year = number < 50 ? "20\(word)" : "19\(word)"
                } else {
                    return nil
                }
            } else if let match = word.wholeMatch(of: /(\d{4})([-\/.])(\d\d?)\2(\d\d?)/), year == nil {
                (year, month, day) = (String(match.1), Int(match.3), Int(match.4))
            } else if let match = word.wholeMatch(of: /(\d\d?)\.(\d\d?)\.(\d{4})/), year == nil {
                (year, month, day) = (String(match.3), Int(match.2), Int(match.1))
            } else if let match = word.wholeMatch(of: /(\d?\d)(:\d\d(?::\d\d(?:\.\d+)?)?)/), time == nil, let hour = Int(match.1) {
                time = (hour, match.2)
            } else if ["am", "pm"].contains(word), let hour = time?.hour, (1...12).contains(hour) {
                time?.hour = hour % 12 + (word == "pm" ? 12 : 0)
            } else if let match = word.wholeMatch(of: /(?:gmt|utc)?([+-]\d\d:?\d\d)/), offset == nil {
                offset = String(match.1)
            } else if let zone = offsets[word] {
                // A name after an offset is that of its zone.
                offset = offset ?? zone
            } else if let index = months.firstIndex(where: isName), month == nil {
                month = index + 1
            } else if !days.contains(where: isName), word != "at" {
                return nil
            }
        }
        guard let year, let month, let day else { return nil }
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(digits(month))-\(digits(day))\(time.map { "T\(digits($0.hour))\($0.rest)" } ?? "")\(offset ?? "")"
    }
}
