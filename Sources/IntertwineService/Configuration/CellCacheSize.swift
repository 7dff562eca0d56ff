internal import Glibc
public import IntertwineDeclarations
internal import IntertwinePrimitives

/// The memory limit of the cache of rendered cells.
///
/// As a setting: `auto`, or a number of bytes.
public enum CellCacheSize: SettingValue, Hashable {
    /// A sixteenth of the memory that the process may use, 32 MiB to 1 GiB.
    case automatic
    case bytes(ByteCount)

    public init?(setting: String) {
        if setting == "auto" {
            self = .automatic
        } else if let count = ByteCount(setting: setting) {
            self = .bytes(count)
        } else {
            return nil
        }
    }

    public var setting: String {
        switch self {
        case .automatic: "auto"
        case .bytes(let count): count.setting
        }
    }

    public static var allowed: String { "auto, or \(ByteCount.allowed)" }

    /// Returns the limit in bytes.
    ///
    /// - Parameter root: The root of the machine's file system.
    func bytes(root: String = "") -> Int {
        switch self {
        case .automatic: min(max(Self.usable(root) / 16, 32 << 20), 1 << 30)
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
