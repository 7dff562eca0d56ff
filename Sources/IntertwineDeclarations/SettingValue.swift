public import IntertwineAds
public import IntertwineCells
internal import IntertwinePrimitives

/// A type that a setting's text can be parsed as.
public protocol SettingValue: Sendable {
    init?(setting: String)
    /// The text that parses as this value again.
    var setting: String { get }
    /// The allowed values in a few words, for error messages.
    static var allowed: String { get }
}

extension String: SettingValue {
    public init?(setting: String) { self = setting }
    public var setting: String { self }
    public static var allowed: String { "a text" }
}

extension Int: SettingValue {
    public init?(setting: String) { self.init(setting) }
    public var setting: String { String(self) }
    public static var allowed: String { "a whole number" }
}

extension UInt16: SettingValue {
    public init?(setting: String) { self.init(setting) }
    public var setting: String { String(self) }
    public static var allowed: String { "a whole number from 0 to 65535" }
}

extension Bool: SettingValue {
    public init?(setting: String) {
        switch setting {
        case "true", "yes", "on": self = true
        case "false", "no", "off": self = false
        default: return nil
        }
    }
    public var setting: String { self ? "true" : "false" }
    public static var allowed: String { "true or false" }
}

extension Duration: SettingValue {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("ms", 1), ("s", 1_000),
    ]

    /// The longest duration: beyond any sensible setting, and short enough to prevent overflow in every unit.
    private static let longest: Int64 = 3_650 * 86_400_000

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

    public var setting: String {
        let total = milliseconds
        for (suffix, factor) in Self.units.sorted(by: { $0.milliseconds > $1.milliseconds }) where total != 0 && total % factor == 0 {
            return "\(total / factor)\(suffix)"
        }
        return "\(total)ms"
    }

    public static var allowed: String { "a number with its unit: ms, s, min, h or d; at most 3650d" }
}

/// A number of bytes as a setting: `512`, `64KiB`, `8MiB`, `2GiB`.
public struct ByteCount: SettingValue, Hashable, ExpressibleByIntegerLiteral {
    public var bytes: Int

    private static let units: [(suffix: String, factor: Int)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1), ("", 1)]

    public init(integerLiteral value: Int) {
        bytes = value
    }

    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(integerLiteral: count << 10) }
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(integerLiteral: count << 20) }
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(integerLiteral: count << 30) }

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

    public var setting: String {
        for (suffix, factor) in Self.units.prefix(3).reversed() where bytes != 0 && bytes % factor == 0 {
            return "\(bytes / factor)\(suffix)"
        }
        return String(bytes)
    }

    public static var allowed: String { "a number of bytes, or one with KiB, MiB or GiB" }
}

extension Viewability: SettingValue {
    public init?(setting: String) { self.init(setting) }
    public var setting: String { text }
}

extension PlacementRule: SettingValue {
    public init?(setting: String) { self.init(setting) }
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
