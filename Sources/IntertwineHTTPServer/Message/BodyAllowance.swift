internal import CIntertwineLinux
internal import Dispatch
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
        FreedMemory.shared.note(count)
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

/// Gives back to the system what was freed. The allocator keeps it otherwise: a crowd that came once would be paid for until the end.
private final class FreedMemory: Sendable {
    static let shared = FreedMemory()

    /// Less than that is not worth the look through all that is free.
    private static let worthwhile = 16 << 20
    /// More than that in a second: there is still something going on.
    private static let busy = 1 << 20

    private let freed = Atomic(0)
    private let isWaiting = Atomic(false)

    /// Remembers that so many bytes were freed. When that is a lot, and quiet has come, they are given back, on a thread of their own.
    func note(_ count: Int) {
        let sum = freed.add(count, ordering: .relaxed).newValue
        if sum >= Self.worthwhile, !isWaiting.exchange(true, ordering: .acquiringAndReleasing) { look(after: sum) }
    }

    private func look(after before: Int) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 1) { [self] in
            let sum = freed.load(ordering: .relaxed)
            if sum - before >= Self.busy {
                look(after: sum)
                return
            }
            freed.subtract(sum, ordering: .relaxed)
            isWaiting.store(false, ordering: .releasing)
            clinux_trim()
        }
    }
}
