internal import Synchronization

/// A limit on bytes in memory that many owners share, such as the bodies of all downloads.
///
/// ```swift
/// let budget = MemoryBudget(limit: 1 << 20)
/// if budget.reserve(4_096) {
///     print(budget.inUse)  // 4096
///     budget.release(4_096)
/// }
/// ```
package final class MemoryBudget: Sendable {
    /// The limit in bytes.
    package let limit: Int
    private let used = Atomic(0)

    /// Creates a budget of which nothing is reserved.
    ///
    /// - Parameter limit: The limit in bytes.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The reserved bytes. They exceed ``limit`` after a reservation beyond it.
    package var inUse: Int { used.load(ordering: .relaxed) }
    /// True if no byte is left within the limit.
    var isUsedUp: Bool { inUse >= limit }

    /// Reserves bytes. The owner calls ``release(_:)`` once it has freed them.
    ///
    /// - Parameter allowsExcess: True if the bytes are reserved even beyond the limit, because they are already in memory.
    /// - Returns: False if the limit is exceeded. Without `allowsExcess`, nothing is then reserved.
    package func reserve(_ bytes: Int, allowsExcess: Bool = false) -> Bool {
        if used.add(bytes, ordering: .relaxed).newValue <= limit { return true }
        if !allowsExcess { used.subtract(bytes, ordering: .relaxed) }
        return false
    }

    /// Releases reserved bytes, which must be freed already. ``MallocTrimmer`` counts them.
    package func release(_ bytes: Int) {
        used.subtract(bytes, ordering: .relaxed)
        MallocTrimmer.shared.recordFreed(bytes)
    }
}
