public import IntertwineFeed
internal import IntertwinePrimitives

package protocol SettingValue: Sendable {
    init?(setting: String)
    var setting: String { get }
    static var allowed: String { get }
}

extension SettingValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    package init?(setting: String) { self.init(rawValue: setting) }
    package var setting: String { rawValue }
    package static var allowed: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension String: SettingValue {
    /// It never fails.
    package init?(setting: String) { self = setting }
    package var setting: String { self }
    package static var allowed: String { "a text" }
}

extension Int: SettingValue {
    package init?(setting: String) { self.init(setting) }
    package var setting: String { String(self) }
    package static var allowed: String { "a whole number" }
}

extension UInt16: SettingValue {
    package init?(setting: String) { self.init(setting) }
    package var setting: String { String(self) }
    package static var allowed: String { "a whole number from 0 to 65535" }
}

extension Bool: SettingValue {
    package init?(setting: String) { self.init(word: setting) }
    package var setting: String { self ? "true" : "false" }
    package static var allowed: String { "true or false" }
}

extension Duration: SettingValue {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("ms", 1), ("s", 1_000),
    ]

    /// The longest duration: beyond any sensible setting, and short enough to prevent overflow in every unit.
    private static let longest: Int64 = 3_650 * 86_400_000

    package init?(setting: String) {
        for (suffix, factor) in Self.units where setting.hasSuffix(suffix) {
            guard let count = Int64(setting.dropLast(suffix.count)), count >= 0 else { continue }
            let (milliseconds, overflow) = count.multipliedReportingOverflow(by: factor)
            guard !overflow, milliseconds <= Self.longest else { return nil }
            self = .milliseconds(milliseconds)
            return
        }
        return nil
    }

    package var setting: String {
        let total = milliseconds
        for (suffix, factor) in Self.units.sorted(by: { $0.milliseconds > $1.milliseconds }) where total != 0 && total % factor == 0 {
            return "\(total / factor)\(suffix)"
        }
        return "\(total)ms"
    }

    package static var allowed: String { "a number with its unit: ms, s, min, h or d; at most 3650d" }
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
struct SettingName: Hashable, Sendable {
    static let environmentPrefix = "INTERTWINE_"

    let key: String

    init(_ key: String) {
        self.key = key
    }

    init(spelled key: String) {
        var canonical = ""
        for character in key {
            if character.isUppercase, let last = canonical.last, last.isLowercase || last.isNumber { canonical += "-" }
            canonical += character.lowercased()
        }
        self.key = canonical
    }

    var components: [String] {
        key.split(separator: ".").map(String.init)
    }

    var camelCaseComponents: [String] {
        components.map { component in
            let words = component.split(separator: "-")
            return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
        }
    }

    var environmentVariable: String {
        Self.environmentPrefix + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }
}
