internal import Foundation
internal import IntertwinePrimitives

/// A form to which values of a source are converted.
public enum SourceForm: Sendable, Hashable {
    /// The characters of a text, a number or a boolean.
    case plain
    /// The text of HTML: without markup, with the characters of entities.
    case text
    /// A number, also from its digits in a text.
    case number
    /// A date, or a date with time and offset, from a text or from seconds or milliseconds since 1970.
    ///
    /// - Parameter zone: The time zone of texts without offset; nil if such texts are invalid.
    case date(zone: TimeZoneName?)

    /// A time zone of the IANA database, such as `Europe/Berlin`.
    public struct TimeZoneName: Sendable, Hashable {
        fileprivate let zone: TimeZone

        /// Returns nil for an unknown name.
        public init?(_ name: String) {
            guard let zone = TimeZone(identifier: name) else { return nil }
            self.zone = zone
        }
    }

    /// Returns the JSON of a converted value; nil if it cannot be converted.
    func json(of value: SourceValue) -> [UInt8]? {
        guard let text = text(of: value) else { return nil }
        guard self != .number else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        bytes.append(jsonString: text.utf8)
        return bytes
    }

    /// Returns the characters of a converted value; nil if it cannot be converted.
    func text(of value: SourceValue) -> String? {
        switch self {
        case .plain: return value.plain
        case .text: return value.plain.map(HTMLText.text(of:))
        case .number:
            guard let plain = value.plain?.trimmingCharacters(in: .whitespacesAndNewlines) else { return nil }
            // JSON allows neither a plus sign nor leading zeros. A large whole number is no double.
            if let whole = Int64(plain) { return String(whole) }
            guard plain.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(plain), number.isFinite else {
                return nil
            }
            return "\(number)"
        case .date(let zone):
            guard let plain = value.plain else { return nil }
            return SourceDate.text(of: plain.trimmingCharacters(in: .whitespacesAndNewlines), in: zone?.zone)
        }
    }
}

/// Dates as people's APIs write them.
private enum SourceDate {
    /// Numbers from here on are milliseconds: as seconds, they are after the year 5000.
    private static let leastMilliseconds = 1e11

    /// Returns a date, or a date with time in UTC; nil for other texts.
    static func text(of text: String, in zone: TimeZone?) -> String? {
        if CalendarDay(text) != nil { return text }
        if let number = Double(text), number.isFinite, number.magnitude < 1e15 {
            return moment(number.magnitude < leastMilliseconds ? number * 1_000 : number)
        }
        if let seconds = HTTPDate.parse(text.replacing("+0000", with: "GMT").replacing("UTC", with: "GMT"), now: WallClock.now() / 1_000) {
            return moment(Double(seconds) * 1_000)
        }
        return local(text, zone)
    }

    private static func moment(_ milliseconds: Double) -> String {
        let whole = Int64(milliseconds.rounded())
        return whole % 1_000 == 0 ? Timestamp.text(milliseconds: whole) : Timestamp.exactText(milliseconds: whole)
    }

    /// Reads `2026-05-01T19:00:00+0200` with its variants. A space or lower case may stand for `T`, a comma for the point, and spaces before the offset.
    /// Seconds and the offset may be missing.
    private static func local(_ text: String, _ zone: TimeZone?) -> String? {
        guard
            let match = text.firstMatch(
                of: /^(\d{4}-\d\d-\d\d)(?:[Tt]|\ +)(\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\ *(?:([Zz]|UTC|GMT)|([+-]\d\d)(?::?(\d\d))?)?$/)
        else { return nil }
        let hasOffset = match.5 != nil || match.6 != nil
        let offset = match.6.map { "\($0):\((match.7 ?? nil) ?? "00")" } ?? "Z"
        let fraction = (match.4 ?? nil).map { ".\($0.prefix(3))" } ?? ""
        guard let time = Timestamp.milliseconds(of: "\(match.1)T\(match.2)\((match.3 ?? nil) ?? ":00")\(fraction)\(offset)") else {
            return nil
        }
        guard !hasOffset else { return moment(Double(time)) }
        guard let zone else { return nil }
        // The offset of the zone at the local time, read as UTC, is exact except within hours of a change; the second step is exact.
        func shift(at milliseconds: Int64) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))) * 1_000
        }
        return moment(Double(time - shift(at: time - shift(at: time))))
    }
}
