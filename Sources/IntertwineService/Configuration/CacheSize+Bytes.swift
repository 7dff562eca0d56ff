internal import Glibc
internal import IntertwinePrimitives

extension FeedSettings {
    /// The limit of the page cache in bytes.
    var pageCacheBytes: Int { pageCache.bytes(of: 32, in: 16 << 20...256 << 20) }
    /// The limit of the cell cache in bytes.
    var cellCacheBytes: Int { cellCache.bytes(of: 16, in: 32 << 20...1 << 30) }
}

extension ImageSettings {
    /// The limit of the image cache in memory in bytes.
    var memoryCacheBytes: Int { memoryCache.bytes(of: 16, in: 32 << 20...512 << 20) }
}

extension CacheSize {
    /// Returns the limit in bytes.
    ///
    /// - Parameters:
    ///   - parts: The number of such caches that fill the memory, if the size is automatic.
    ///   - range: The bounds of an automatic size.
    ///   - root: The root of the machine's file system.
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
