/// Timestamps of JSON and log lines: RFC 3339 §5.6, in UTC.
package enum Timestamp {
    package static func text(milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        appendSeconds(milliseconds.floored(by: 1_000).quotient, to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a timestamp with milliseconds: `2026-11-21T09:00:00.041Z`.
    package static func exactText(milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        appendExact(milliseconds: milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``exactText(milliseconds:)``.
    static func appendExact(milliseconds: Int64, to bytes: inout [UInt8]) {
        let moment = min(max(milliseconds, seconds.lowerBound * 1_000), seconds.upperBound * 1_000 + 999)
        let (second, rest) = moment.floored(by: 1_000)
        appendSeconds(second, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        bytes.append(decimal: Int(rest), digits: 3)
        bytes.append(UInt8(ascii: "Z"))
    }

    package static func isDateOrMoment(_ text: ArraySlice<UInt8>) -> Bool {
        guard CalendarDay(bytes: text.prefix(10)) != nil else { return false }
        var rest = DigitReader(text.dropFirst(10))
        if rest.isAtEnd { return true }
        guard rest.skip("T"), isClock(&rest), rest.skip(":"), let second = rest.number(2), second < 60 else { return false }
        if rest.skip("."), !(1...9).contains(rest.digits()) { return false }
        if rest.skip("Z") { return rest.isAtEnd }
        return (rest.skip("+") || rest.skip("-")) && isClock(&rest) && rest.isAtEnd
    }

    package static func milliseconds(of text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count > 10, isDateOrMoment(bytes[...]), let day = CalendarDay(bytes: bytes.prefix(10)) else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64 {
            bytes[start..<start + count].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        var moment = day.number * 86_400_000 + number(11, 2) * 3_600_000 + number(14, 2) * 60_000 + number(17, 2) * 1_000
        var end = 19
        if bytes[end] == UInt8(ascii: ".") {
            let digits = bytes[(end + 1)...].prefix { $0 &- UInt8(ascii: "0") <= 9 }
            moment += number(end + 1, min(3, digits.count)) * [100, 10, 1][min(3, digits.count) - 1]
            end = digits.endIndex
        }
        guard bytes[end] != UInt8(ascii: "Z") else { return moment }
        let offset = number(end + 1, 2) * 3_600_000 + number(end + 4, 2) * 60_000
        return bytes[end] == UInt8(ascii: "-") ? moment + offset : moment - offset
    }

    package static let pattern =
        "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
        + "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
        + "(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))?$"

    static func clamped(_ second: Int64) -> Int64 {
        min(max(second, seconds.lowerBound), seconds.upperBound)
    }

    static func append(timeOfDay second: Int, to bytes: inout [UInt8]) {
        bytes.append(decimal: second / 3_600, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(decimal: second / 60 % 60, digits: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(decimal: second % 60, digits: 2)
    }

    private static let seconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

    private static func appendSeconds(_ second: Int64, to bytes: inout [UInt8]) {
        let (day, time) = clamped(second).floored(by: 86_400)
        bytes.reserveCapacity(bytes.count + 24)
        CalendarDay(number: day).append(to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        append(timeOfDay: Int(time), to: &bytes)
    }

    private static func isClock(_ rest: inout DigitReader<some Collection<UInt8>>) -> Bool {
        guard let hour = rest.number(2), hour < 24, rest.skip(":"), let minute = rest.number(2) else { return false }
        return minute < 60
    }
}
