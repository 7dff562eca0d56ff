/// A moment as JSON has it: RFC 3339, UTC.
public enum Timestamp {
    /// In whole seconds.
    ///
    /// - Parameter milliseconds: since 1970-01-01 UTC; moments outside the years 0 to 9999 are written as the nearest one inside.
    static func text(milliseconds: Int64) -> String {
        let seconds = min(max(floorDivide(milliseconds, 1000), -62_167_219_200), 253_402_300_799)
        let day = floorDivide(seconds, 86_400)
        let second = seconds - day * 86_400
        let (year, month, date) = civil(fromDays: day)
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(date, 2) + "T" + pad(second / 3600, 2) + ":" + pad(second / 60 % 60, 2) + ":"
            + pad(second % 60, 2) + "Z"
    }

    /// The same to the millisecond: `2026-11-21T09:00:00.041Z`.
    public static func exactText(milliseconds: Int64) -> String {
        let moment = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        return text(milliseconds: moment).dropLast() + "." + pad(moment - floorDivide(moment, 1000) * 1000, 3) + "Z"
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-(value + 1)) / divisor) - 1
    }

    /// The proleptic Gregorian date of a day, counted in eras of 400 years that begin on the first of March.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
