internal import Synchronization

/// The share of one body in the memory budget. It is released explicitly, or when the body has no owner left.
final class MemoryReservation: Sendable {
    private let budget: MemoryBudget
    private let reserved = Atomic(0)

    init(of budget: MemoryBudget) {
        self.budget = budget
    }

    deinit {
        budget.release(reserved.load(ordering: .relaxed))
    }

    /// Adds bytes to the reservation, even beyond the budget; in that case it returns false.
    func reserve(_ count: Int) -> Bool {
        reserved.add(count, ordering: .relaxed)
        return budget.reserve(count, allowsExcess: true)
    }

    func release(_ count: Int) {
        reserved.subtract(count, ordering: .relaxed)
        budget.release(count)
    }
}
