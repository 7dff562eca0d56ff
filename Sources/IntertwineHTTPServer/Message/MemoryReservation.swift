internal import Synchronization

final class MemoryReservation: Sendable {
    private let budget: MemoryBudget
    private let reserved = Atomic(0)

    init(of budget: MemoryBudget) {
        self.budget = budget
    }

    deinit {
        budget.release(reserved.load(ordering: .relaxed))
    }

    func reserve(_ count: Int) -> Bool {
        reserved.add(count, ordering: .relaxed)
        return budget.reserve(count, allowsExcess: true)
    }

    func release(_ count: Int) {
        reserved.subtract(count, ordering: .relaxed)
        budget.release(count)
    }
}
