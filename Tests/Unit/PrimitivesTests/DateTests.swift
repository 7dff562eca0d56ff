import Foundation
import TestSupport
import Testing

@testable import IntertwinePrimitives

@Suite("Dates")
struct DateTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private static let example: Int64 = 784_111_777

    @Test(
        "HTTP dates are read in all three forms (RFC 9110 §5.6.7)",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
            "sun, 06 NOV 1994 08:49:37 gmt",
        ])
    func forms(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.example) == Self.example)
        let bytes = Array(text.utf8)
        #expect(bytes.withUnsafeBufferPointer { HTTPDate.parse($0, now: Self.example) } == Self.example)
    }

    @Test("HTTP dates are read for every weekday and month")
    func names() throws {
        let days = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
        for number in 0..<400 {
            let second = Int64(number) * 86_400 + 45_296
            let words = HTTPDate.text(second).split(separator: " ")
            #expect(words[0] == days[number % 7].prefix(3) + "," && words[4] == "12:34:56")
            let old = "\(days[number % 7]), \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
            let day = words[1].hasPrefix("0") ? " " + words[1].suffix(1) : String(words[1])
            let asctime = "\(words[0].prefix(3)) \(words[2]) \(day) \(words[4]) \(words[3])"
            #expect(HTTPDate.parse(old, now: 0) == second && HTTPDate.parse(asctime, now: 0) == second)
        }
    }

    @Test(
        "A year of two digits is the latest that is at most 50 years ahead",
        arguments: [
            // 2026-11-21T09:00:00Z: the year 2076 is ahead by 50 years up to that day and second.
            (1_795_251_600, "21-Nov-76 09:00:00", "2076-11-21"), (1_795_251_600, "21-Nov-76 09:00:01", "1976-11-21"),
            (1_795_251_600, "01-Jan-77 00:00:00", "1977-01-01"), (1_795_251_600, "31-Dec-75 00:00:00", "2075-12-31"),
            (1_795_251_600, "06-Nov-94 08:49:37", "1994-11-06"), (1_795_251_600, "29-Feb-00 00:00:00", "2000-02-29"),
            // 1994, and 2099, behind which a century ends.
            (784_111_777, "01-Jan-00 00:00:00", "2000-01-01"), (784_111_777, "01-Jan-70 00:00:00", "1970-01-01"),
            (4_083_004_800, "01-Jan-00 00:00:00", "2100-01-01"),
        ] as [(Int64, String, String)])
    func twoDigits(now: Int64, text: String, day: String) throws {
        let second = try #require(HTTPDate.parse("Sunday, \(text) GMT", now: now))
        #expect(CalendarDay(ofSecond: second).text == day)
    }

    @Test(
        "Invalid dates are rejected",
        arguments: [
            "", "0", "-1", "yesterday", "784111777", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
            "Wed, 29 Feb 1995 08:49:37 GMT", "Sun, 31 Apr 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunsday, 06-Nov-94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun Nov 06 08:49:37 94", "Sun, 06 Nov 1994 08:49:3é GMT", "a b c d e f",
        ])
    func none(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.example) == nil)
    }

    @Test("Dates round-trip on every day, and agree with Foundation")
    func calendar() throws {
        for day in stride(from: CalendarDay.range.lowerBound.number, through: CalendarDay.range.upperBound.number, by: 97) {
            let second = day * 86_400 + 4_242
            #expect(HTTPDate.parse(HTTPDate.text(second), now: 0) == second)
            #expect(CalendarDay(CalendarDay(number: day).text)?.number == day)
        }
        let day = Date.ISO8601FormatStyle.iso8601.year().month().day()
        for number in stride(from: Int64(-25_000), to: 110_000, by: 1) {
            #expect(CalendarDay(number: number).text == Date(timeIntervalSince1970: Double(number) * 86_400).formatted(day))
        }
        #expect(HTTPDate.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.text(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.text(.min) == "Sat, 01 Jan 0000 00:00:00 GMT")
        #expect(CalendarDay(ofSecond: -1).text == "1969-12-31" && CalendarDay(number: .max).text == "9999-12-31")
        for bad in ["2026-2-1", "2026-02-30", "2025-02-29", "1900-02-29", "26-01-01", "2026-01-01Z", "+026-01-01", "", "2026-13-01"] {
            #expect(CalendarDay(bad) == nil)
        }
    }

    @Test("RFC 3339 dates agree with Foundation, leap days and times before 1970 included")
    func timestamps() {
        var random = SeededRandom(seed: 1)
        let moments: [Int64] = [0, -1, 999, 951_782_400_000, 4_107_542_399_999, 253_402_300_799_999, -2_203_891_200_000]
        let style = Date.ISO8601FormatStyle()
        for moment in moments + (0..<2_000).map({ _ in .random(in: -2_000_000_000_000...253_000_000_000_000, using: &random) }) {
            let seconds = (Double(moment) / 1000).rounded(.down)
            #expect(Timestamp.text(milliseconds: moment) == style.format(Date(timeIntervalSince1970: seconds)))
        }
        for moment in [0, 41, 999, -1, 1_795_285_041_543, 951_782_400_001] as [Int64] {
            let text = Timestamp.exactText(milliseconds: moment)
            #expect(text.dropLast(5) == Timestamp.text(milliseconds: moment).dropLast())
            #expect(text.suffix(4) == String(String(1_000 + (moment % 1_000 + 1_000) % 1_000).dropFirst()) + "Z")
        }
        var line = Array("at ".utf8)
        Timestamp.appendExact(milliseconds: 1_795_285_041_543, to: &line)
        #expect(line == Array("at 2026-11-21T18:17:21.543Z".utf8))
        #expect(Timestamp.exactText(milliseconds: .max) == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp.exactText(milliseconds: .min) == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp.text(milliseconds: .max) == "9999-12-31T23:59:59Z")
        #expect(Timestamp.text(milliseconds: .min) == "0000-01-01T00:00:00Z")
    }

    @Test("Dates of items are checked by their pattern")
    func pattern() throws {
        let pattern = try Regex(Timestamp.pattern)
        let good = [
            "2026-11-21", "2024-02-29", "2000-02-29", "2026-11-21T09:00:00Z", "2026-11-21T23:59:59.123456789+23:59",
            "0000-01-01T00:00:00-00:00",
        ]
        let bad = [
            "", "2026", "2026-11", "2026-11-31", "2023-02-29", "1900-02-29", "2026-00-01", "2026-11-21T", "2026-11-21T09:00Z",
            "2026-11-21 09:00:00Z",
            "2026-11-21t09:00:00Z", "2026-11-21T09:00:00z", "2026-11-21T24:00:00Z", "2026-11-21T09:00:60Z", "2026-11-21T09:00:00",
            "2026-11-21T09:00:00.Z",
            "2026-11-21T09:00:00.1234567890Z", "2026-11-21T09:00:00+24:00", "2026-11-21T09:00:00+0100", "2026-11-21T09:00:00ZZ",
            " 2026-11-21",
        ]
        for text in good + bad {
            #expect(Timestamp.isDateOrMoment(Array(text.utf8)[...]) == good.contains(text), "\(text)")
            #expect((text.wholeMatch(of: pattern) != nil) == good.contains(text), "\(text)")
        }
    }

    @Test(
        "Retry-After is a number of seconds or a date (RFC 9110)",
        arguments: [
            ("120", 120), ("0", 0), ("9999999999", 9_999_999_999), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
            ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 37), ("Sun Nov  6 08:49:37 1994", 37), ("-1", nil), ("1.5", nil), ("", nil), ("soon", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func retryAfter(field: String, expected: Int?) {
        #expect(HTTPDate.delay(retryAfter: field, now: 784_111_740) == expected.map { Int64($0) })
    }
}
