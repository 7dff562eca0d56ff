internal import Foundation
internal import Glibc
public import IntertwineDeclarations

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
        return groupLimits(root).reduce(min(machine, Int(clamping: limit.rlim_cur))) { min($0, $1) }
    }

    /// Returns the limits of the process's control group and of its parents. A container sees its own group as the root, whatever its path.
    private static func groupLimits(_ root: String) -> [Int] {
        text("\(root)/proc/self/cgroup").split(separator: "\n").flatMap { line -> [Int] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            let (folder, file): (String, String)
            if fields[1].isEmpty {
                (folder, file) = ("\(root)/sys/fs/cgroup", "memory.max")
            } else if fields[1].split(separator: ",").contains("memory") {
                (folder, file) = ("\(root)/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            } else {
                return []
            }
            let parts = fields[2].split(separator: "/")
            return (0...parts.count).compactMap { depth in
                let path = ([folder] + parts.prefix(depth).map(String.init) + [file]).joined(separator: "/")
                return Int(text(path).split(whereSeparator: \.isWhitespace).first ?? "")
            }
        }
    }

    private static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: 64 << 10) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}
