internal import IntertwineEventLoop
internal import Synchronization

/// A limit on the bytes of all request bodies in memory.
final class MemoryBudget: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var isUsedUp: Bool { used.load(ordering: .relaxed) >= limit }

    fileprivate func reserve(_ count: Int) -> Bool {
        used.add(count, ordering: .relaxed).newValue <= limit
    }

    fileprivate func release(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
        MallocTrimmer.shared.recordFreed(count)
    }
}

/// The share of one body in the memory budget. It is released explicitly, or when the body has no owner left.
final class MemoryReservation: Sendable {
    private let allowance: MemoryBudget
    private let reserved = Atomic(0)

    init(of allowance: MemoryBudget) {
        self.allowance = allowance
    }

    deinit {
        allowance.release(reserved.load(ordering: .relaxed))
    }

    /// Adds bytes to the reservation, even beyond the budget; in that case it returns false.
    func reserve(_ count: Int) -> Bool {
        reserved.add(count, ordering: .relaxed)
        return allowance.reserve(count)
    }

    func release(_ count: Int) {
        reserved.subtract(count, ordering: .relaxed)
        allowance.release(count)
    }
}
