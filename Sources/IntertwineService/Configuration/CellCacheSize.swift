internal import Glibc
internal import IntertwinePrimitives
internal import IntertwineSettings

extension CellCacheSize {
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
