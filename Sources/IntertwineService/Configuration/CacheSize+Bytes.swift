internal import Glibc
internal import IntertwinePrimitives

extension FeedSettings {
    var pageCacheBytes: Int { pageCache.bytes(of: 32, in: 16 << 20...256 << 20) }
    var cellCacheBytes: Int { cellCache.bytes(of: 16, in: 32 << 20...1 << 30) }
}

extension ImageSettings {
    var memoryCacheBytes: Int { memoryCache.bytes(of: 16, in: 32 << 20...512 << 20) }
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
