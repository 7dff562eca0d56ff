internal import Dispatch
internal import Synchronization

/// A reserve of threads that do nothing. If threads are short, they end, and others can start in their place.
package final class ParkedThreads: Sendable {
    private static let stackBytes = 64 << 10

    private let count = Mutex(0)
    private let gate = DispatchSemaphore(value: 0)

    package init() {}

    deinit { release() }

    /// Starts threads until so many are parked, or the system provides no more.
    ///
    /// - Returns: how many are parked.
    @discardableResult
    package func park(_ wanted: Int) -> Int {
        count.withLock { count in
            while count < wanted, DetachedThread.start(stackBytes: Self.stackBytes, { [gate] in gate.wait() }) { count += 1 }
            return count
        }
    }

    /// Ends all of them.
    package func release() {
        count.withLock { count in
            for _ in 0..<count { gate.signal() }
            count = 0
        }
    }
}
