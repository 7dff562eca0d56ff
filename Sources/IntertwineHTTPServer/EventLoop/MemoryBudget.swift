internal import Synchronization

/// A limit on bytes in memory that many owners share, such as the bodies of all downloads.
package final class MemoryBudget: Sendable {
    /// The limit in bytes.
    package let limit: Int
    private let used = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    package var inUse: Int { used.load(ordering: .relaxed) }
    var isUsedUp: Bool { inUse >= limit }

    /// `allowsExcess`: True if the bytes are reserved even beyond the limit, because they are already in memory.
    package func reserve(_ bytes: Int, allowsExcess: Bool = false) -> Bool {
        if used.add(bytes, ordering: .relaxed).newValue <= limit { return true }
        if !allowsExcess { used.subtract(bytes, ordering: .relaxed) }
        return false
    }

    /// Releases reserved bytes, which must be freed already.
    package func release(_ bytes: Int) {
        used.subtract(bytes, ordering: .relaxed)
        MallocTrimmer.shared.recordFreed(bytes)
    }
}
