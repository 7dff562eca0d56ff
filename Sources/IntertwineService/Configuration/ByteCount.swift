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
