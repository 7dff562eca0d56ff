internal import Synchronization

/// A cancellation that one thread requests and another one observes. It may precede the work that it cancels.
public final class CancellationToken: Sendable {
    private static let last = Atomic<UInt64>(0)

    /// A number that no other token of the process has; never 0.
    public let number = last.add(1, ordering: .relaxed).newValue
    private let cancelled = Atomic(false)

    public init() {}

    public var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    public func cancel() { cancelled.store(true, ordering: .releasing) }
}
