/// Dates as items have them: a date, or a date with time and offset (RFC 3339 §5.6, in capitals, without leap seconds).
enum DateText {
    /// The same as an ECMA-262 pattern, days of each month and leap years included.
    static let pattern =
        "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
        + "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
        + "(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))?$"

    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        guard let year = number(4, of: &rest), skip("-", of: &rest), let month = number(2, of: &rest), skip("-", of: &rest),
            let day = number(2, of: &rest), (1...12).contains(month), (1...days(of: month, in: year)).contains(day)
        else { return false }
        return rest.isEmpty || isTime(rest)
    }

    private static func isTime(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        guard skip("T", of: &rest), isClock(&rest), skip(":", of: &rest), let second = number(2, of: &rest), second < 60 else {
            return false
        }
        if skip(".", of: &rest) {
            let digits = rest.prefix { $0 &- UInt8(ascii: "0") <= 9 }
            guard (1...9).contains(digits.count) else { return false }
            rest = rest[digits.endIndex...]
        }
        if skip("Z", of: &rest) { return rest.isEmpty }
        guard skip("+", of: &rest) || skip("-", of: &rest) else { return false }
        return isClock(&rest) && rest.isEmpty
    }

    /// Hours and minutes.
    private static func isClock(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let hour = number(2, of: &rest), hour < 24, skip(":", of: &rest), let minute = number(2, of: &rest) else { return false }
        return minute < 60
    }

    private static func number(_ count: Int, of rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func skip(_ character: Unicode.Scalar, of rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
