internal import IntertwineEventLoop
internal import Synchronization

/// How many bytes all bodies under way may take together.
final class BodyAllowance: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var isUsedUp: Bool { used.load(ordering: .relaxed) >= limit }

    fileprivate func take(_ count: Int) -> Bool {
        used.add(count, ordering: .relaxed).newValue <= limit
    }

    fileprivate func give(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
        MallocTrimmer.shared.recordFreed(count)
    }
}

/// What one body takes of the allowance: until it is given back, or until nobody holds the body any more.
final class BodyShare: Sendable {
    private let allowance: BodyAllowance
    private let taken = Atomic(0)

    init(of allowance: BodyAllowance) {
        self.allowance = allowance
    }

    deinit {
        allowance.give(taken.load(ordering: .relaxed))
    }

    /// Takes more, also where that is too much: then the answer is false.
    func take(_ count: Int) -> Bool {
        taken.add(count, ordering: .relaxed)
        return allowance.take(count)
    }

    func give(_ count: Int) {
        taken.subtract(count, ordering: .relaxed)
        allowance.give(count)
    }
}
