internal import Dispatch
internal import Synchronization

/// A reserve of idle threads. If threads are short, the reserve ends, and other threads can start instead.
///
/// ```swift
/// let reserve = ParkedThreads()
/// let parked = reserve.park(8)  // 8, or fewer if the system provides no more
/// reserve.release()
/// ```
public final class ParkedThreads: Sendable {
    private static let stackBytes = 64 << 10

    private let count = Mutex(0)
    private let gate = DispatchSemaphore(value: 0)

    /// Creates a reserve without threads.
    public init() {}

    deinit { release() }

    /// Starts threads until the given number is parked or the system provides no more.
    ///
    /// - Returns: The number of parked threads.
    @discardableResult
    public func park(_ wanted: Int) -> Int {
        count.withLock { count in
            while count < wanted, DetachedThread.start(stackBytes: Self.stackBytes, { [gate] in gate.wait() }) { count += 1 }
            return count
        }
    }

    /// Ends all parked threads.
    public func release() {
        count.withLock { count in
            for _ in 0..<count { gate.signal() }
            count = 0
        }
    }
}
