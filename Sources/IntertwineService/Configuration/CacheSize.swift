internal import Glibc
internal import IntertwinePrimitives

/// The memory limit of a cache.
///
/// As a setting: `auto`, or a number of bytes.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.feed.cellCache = .bytes(.mebibytes(256))
/// configuration.feed.cellCache.setting  // "256MiB"
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

extension CacheSize {
    func bytes(of parts: Int, in range: ClosedRange<Int>, root: String = "") -> Int {
        switch self {
        case .automatic: min(max(Self.usable(root) / parts, range.lowerBound), range.upperBound)
        case .bytes(let count): count.bytes
        }
    }

    /// Returns the minimum of the machine's memory, the limits of the process's control groups (v1 or v2), and its address space, in bytes.
    private static func usable(_ root: String) -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        let machine = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(by: sysconf(Int32(_SC_PAGESIZE))).partialValue
        return min(machine, Int(clamping: limit.rlim_cur), ControlGroup(root: root).memoryLimit ?? .max)
    }
}
