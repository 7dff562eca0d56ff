public import IntertwineFeed
internal import IntertwinePrimitives

/// A type that a setting's text can be parsed as.
///
/// ```swift
/// enum Theme: String, SettingValue, CaseIterable {
///     case light, dark
/// }
/// ```
public protocol SettingValue: Sendable {
    /// Creates the value of a setting's text; nil if the text is not one of the allowed values.
    init?(setting: String)
    /// The text that parses as this value again.
    var setting: String { get }
    /// The allowed values in a few words, for error messages.
    static var allowed: String { get }
}

extension SettingValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// Creates the case with a raw value; nil for other text.
    public init?(setting: String) { self.init(rawValue: setting) }
    /// The raw value.
    public var setting: String { rawValue }
    /// The raw values of all cases.
    public static var allowed: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension String: SettingValue {
    /// Creates the text of a setting. It never fails.
    public init?(setting: String) { self = setting }
    /// The text itself.
    public var setting: String { self }
    /// The description `a text`.
    public static var allowed: String { "a text" }
}

extension Int: SettingValue {
    /// Creates a number from decimal digits with an optional sign; nil for other text and for numbers outside the range of `Int`.
    public init?(setting: String) { self.init(setting) }
    /// The number in decimal digits.
    public var setting: String { String(self) }
    /// The description `a whole number`.
    public static var allowed: String { "a whole number" }
}

extension UInt16: SettingValue {
    /// Creates a number from decimal digits; nil for other text and for numbers above 65535.
    public init?(setting: String) { self.init(setting) }
    /// The number in decimal digits.
    public var setting: String { String(self) }
    /// The description `a whole number from 0 to 65535`.
    public static var allowed: String { "a whole number from 0 to 65535" }
}

extension Bool: SettingValue {
    /// Creates a Boolean from `true`, `yes` or `on`, or from `false`, `no` or `off`; nil for other text. Case matters.
    ///
    /// ```swift
    /// let isOn = Bool(setting: "on")  // true
    /// let unknown = Bool(setting: "On")  // nil
    /// ```
    public init?(setting: String) {
        switch setting {
        case "true", "yes", "on": self = true
        case "false", "no", "off": self = false
        default: return nil
        }
    }
    /// The text `true` or `false`.
    public var setting: String { self ? "true" : "false" }
    /// The description `true or false`.
    public static var allowed: String { "true or false" }
}

extension Duration: SettingValue {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("ms", 1), ("s", 1_000),
    ]

    /// The longest duration: beyond any sensible setting, and short enough to prevent overflow in every unit.
    private static let longest: Int64 = 3_650 * 86_400_000

    /// Creates a duration from a whole number and a unit: `ms`, `s`, `min`, `h` or `d`.
    ///
    /// The result is nil for other text, for negative numbers, and for more than 3650 days.
    ///
    /// ```swift
    /// let timeout = Duration(setting: "90s")  // 90 seconds
    /// let missing = Duration(setting: "90")  // nil, because the unit is missing
    /// ```
    public init?(setting: String) {
        for (suffix, factor) in Self.units where setting.hasSuffix(suffix) {
            guard let count = Int64(setting.dropLast(suffix.count)), count >= 0 else { continue }
            let (milliseconds, overflow) = count.multipliedReportingOverflow(by: factor)
            guard !overflow, milliseconds <= Self.longest else { return nil }
            self = .milliseconds(milliseconds)
            return
        }
        return nil
    }

    /// The duration in the largest unit that yields a whole number, such as `2min`. Parts of a millisecond are omitted.
    ///
    /// ```swift
    /// let text = Duration.seconds(120).setting  // "2min"
    /// let odd = Duration.seconds(90).setting  // "90s"
    /// ```
    public var setting: String {
        let total = milliseconds
        for (suffix, factor) in Self.units.sorted(by: { $0.milliseconds > $1.milliseconds }) where total != 0 && total % factor == 0 {
            return "\(total / factor)\(suffix)"
        }
        return "\(total)ms"
    }

    /// The description of the units and of the maximum, 3650 days.
    public static var allowed: String { "a number with its unit: ms, s, min, h or d; at most 3650d" }
}

/// A number of bytes as a setting: `512`, `64KiB`, `8MiB`, `2GiB`.
///
/// ```swift
/// let limit: ByteCount = 65_536
/// let text = limit.setting  // "64KiB"
/// ```
public struct ByteCount: SettingValue, Hashable, Comparable, ExpressibleByIntegerLiteral {
    /// The number of bytes.
    public var bytes: Int

    private static let units: [(suffix: String, factor: Int)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1), ("", 1)]

    /// Creates a number of bytes from an integer literal.
    public init(integerLiteral value: Int) {
        bytes = value
    }

    /// Returns true if the first number is the smaller one.
    public static func < (one: ByteCount, other: ByteCount) -> Bool { one.bytes < other.bytes }

    /// Returns a number of kibibytes, each of 1024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(integerLiteral: count << 10) }
    /// Returns a number of mebibytes, each of 1024 kibibytes.
    ///
    /// ```swift
    /// let cache = ByteCount.mebibytes(8)
    /// let text = cache.setting  // "8MiB"
    /// ```
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(integerLiteral: count << 20) }
    /// Returns a number of gibibytes, each of 1024 mebibytes.
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(integerLiteral: count << 30) }

    /// Creates a number of bytes from a whole number, alone or with the unit `B`, `KiB`, `MiB` or `GiB`.
    ///
    /// The result is nil for other text, for negative numbers, and for numbers outside the range of `Int`.
    ///
    /// ```swift
    /// let bytes = ByteCount(setting: "64KiB")?.bytes  // 65536
    /// let decimal = ByteCount(setting: "64kB")  // nil
    /// ```
    public init?(setting: String) {
        for (suffix, factor) in Self.units where setting.hasSuffix(suffix) {
            guard let count = Int(setting.dropLast(suffix.count)), count >= 0 else { continue }
            let (product, overflow) = count.multipliedReportingOverflow(by: factor)
            guard !overflow else { return nil }
            bytes = product
            return
        }
        return nil
    }

    /// The number in the largest unit that yields a whole number, such as `64KiB`. Without such a unit, it is the number of bytes.
    public var setting: String {
        for (suffix, factor) in Self.units.prefix(3).reversed() where bytes != 0 && bytes % factor == 0 {
            return "\(bytes / factor)\(suffix)"
        }
        return String(bytes)
    }

    /// The description of the number and its units.
    public static var allowed: String { "a number of bytes, or one with KiB, MiB or GiB" }
}

extension Viewability: SettingValue {
    /// Creates the conditions of a text such as `50% 1s`; nil for other text.
    public init?(setting: String) { self.init(setting) }
    /// The conditions as a text such as `50% 1s`.
    public var setting: String { text }
}

extension PlacementRule: SettingValue {
    /// Creates the rule of a text such as `every 5 offset 2`; nil for other text.
    public init?(setting: String) { self.init(setting) }
    /// The rule as a text such as `every 5 offset 2`.
    public var setting: String { text }
}

/// The spellings of one key: `ads.per-page` is `ads.perPage` in a file as well, and `INTERTWINE_ADS_PER_PAGE` in the environment.
package struct SettingName: Hashable, Sendable {
    package static let environmentPrefix = "INTERTWINE_"

    /// The canonical spelling, in kebab case.
    package let key: String

    package init(_ key: String) {
        self.key = key
    }

    /// Reads a key as someone wrote it in a file.
    package init(spelled key: String) {
        var canonical = ""
        for character in key {
            if character.isUppercase, let last = canonical.last, last.isLowercase || last.isNumber { canonical += "-" }
            canonical += character.lowercased()
        }
        self.key = canonical
    }

    package var components: [String] {
        key.split(separator: ".").map(String.init)
    }

    package var camelCaseComponents: [String] {
        components.map { component in
            let words = component.split(separator: "-")
            return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
        }
    }

    package var environmentVariable: String {
        Self.environmentPrefix + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }
}
