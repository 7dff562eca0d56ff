internal import IntertwinePrimitives
internal import Synchronization

/// A time of day that stands still until the test moves it.
public final class TestClock: Sendable {
    private let milliseconds: Atomic<Int64>

    /// - Parameter now: milliseconds since 1970-01-01 UTC; the machine's own time where nil.
    public init(_ now: Int64? = nil) {
        milliseconds = Atomic(now ?? WallClock.now())
    }

    /// Milliseconds since 1970-01-01 UTC.
    public var now: Int64 { milliseconds.load(ordering: .relaxed) }

    /// Moves it on, or back by a negative duration.
    public func advance(by duration: Duration) {
        milliseconds.wrappingAdd(duration.milliseconds, ordering: .relaxed)
    }
}
