internal import Synchronization

/// One waiter, from the moment its request came in. It can leave before the loop has heard of it.
final class ImageTicket: Sendable {
    let number: UInt64
    private let left = Atomic<Bool>(false)

    init(_ number: UInt64) {
        self.number = number
    }

    var hasLeft: Bool { left.load(ordering: .acquiring) }

    func leave() {
        left.store(true, ordering: .releasing)
    }
}
