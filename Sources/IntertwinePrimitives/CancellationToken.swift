internal import Synchronization

package final class CancellationToken: Sendable {
    private static let last = Atomic<UInt64>(0)

    /// A number that no other token of the process has; never 0.
    package let number = last.add(1, ordering: .relaxed).newValue
    private let cancelled = Atomic(false)

    package init() {}

    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    package func cancel() { cancelled.store(true, ordering: .releasing) }
}
