internal import IntertwineEventLoop
internal import Synchronization

/// How many bytes all bodies under way may take together.
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

/// What one body takes of the allowance: until it is given back, or until nobody holds the body any more.
final class MemoryReservation: Sendable {
    private let allowance: MemoryBudget
    private let reserved = Atomic(0)

    init(of allowance: MemoryBudget) {
        self.allowance = allowance
    }

    deinit {
        allowance.release(reserved.load(ordering: .relaxed))
    }

    /// Takes more, also where that is too much: then the answer is false.
    func reserve(_ count: Int) -> Bool {
        reserved.add(count, ordering: .relaxed)
        return allowance.reserve(count)
    }

    func release(_ count: Int) {
        reserved.subtract(count, ordering: .relaxed)
        allowance.release(count)
    }
}
