internal import Synchronization

/// A limit on bytes in memory that many owners share, such as the bodies of all downloads.
public final class MemoryBudget: Sendable {
    public let limit: Int
    private let used = Atomic(0)

    public init(limit: Int) {
        self.limit = limit
    }

    public var inUse: Int { used.load(ordering: .relaxed) }
    public var isUsedUp: Bool { inUse >= limit }

    /// Reserves bytes. The owner calls ``release(_:)`` once it has freed them.
    ///
    /// - Parameter allowsExcess: True if the bytes are reserved even beyond the limit, because they are already in memory.
    /// - Returns: False if the limit is exceeded. Without `allowsExcess`, nothing is then reserved.
    public func reserve(_ bytes: Int, allowsExcess: Bool = false) -> Bool {
        if used.add(bytes, ordering: .relaxed).newValue <= limit { return true }
        if !allowsExcess { used.subtract(bytes, ordering: .relaxed) }
        return false
    }

    public func release(_ bytes: Int) {
        used.subtract(bytes, ordering: .relaxed)
        MallocTrimmer.shared.recordFreed(bytes)
    }
}
