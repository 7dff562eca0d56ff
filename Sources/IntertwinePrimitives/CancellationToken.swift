internal import Synchronization

/// A cancellation that one thread requests and another one observes. It may precede the work that it cancels.
///
/// ```swift
/// let token = CancellationToken()
/// token.cancel()
/// token.isCancelled  // true
/// ```
package final class CancellationToken: Sendable {
    private static let last = Atomic<UInt64>(0)

    /// A number that no other token of the process has; never 0.
    package let number = last.add(1, ordering: .relaxed).newValue
    private let cancelled = Atomic(false)

    /// Creates a token that is not cancelled.
    package init() {}

    /// True if the cancellation was requested. May be read on any thread.
    package var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Requests the cancellation. May be called on any thread, also more than once.
    package func cancel() { cancelled.store(true, ordering: .releasing) }
}
