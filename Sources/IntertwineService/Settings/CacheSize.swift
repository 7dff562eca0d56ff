/// The memory limit of a cache.
///
/// As a setting: `auto`, or a number of bytes.
///
/// ```swift
/// var feed = FeedSettings()
/// feed.cellCache = .bytes(.mebibytes(256))
/// feed.cellCache.setting  // "256MiB"
/// ```
public enum CacheSize: SettingValue, Hashable {
    /// A share of the memory that the process may use, which depends on the cache. It is the default, and `auto` as a setting.
    case automatic
    /// A fixed limit in bytes.
    case bytes(ByteCount)

    /// Parses `auto` or a number of bytes such as `64MiB`; nil for other text.
    ///
    /// ```swift
    /// CacheSize(setting: "auto")   // .automatic
    /// CacheSize(setting: "64MiB")  // .bytes(.mebibytes(64))
    /// CacheSize(setting: "big")    // nil
    /// ```
    public init?(setting: String) {
        if setting == "auto" {
            self = .automatic
        } else if let count = ByteCount(setting: setting) {
            self = .bytes(count)
        } else {
            return nil
        }
    }

    /// The text of the limit in the configuration file, such as `auto` or `64MiB`.
    public var setting: String {
        switch self {
        case .automatic: "auto"
        case .bytes(let count): count.setting
        }
    }

    /// The description of the allowed values in error messages.
    public static var allowed: String { "auto, or \(ByteCount.allowed)" }
}
