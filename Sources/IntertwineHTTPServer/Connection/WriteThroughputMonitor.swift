internal import IntertwineEventLoop

/// Whether a client takes fast enough what waits for it. The kernel says what it has left; that there is room again it only says when a good
/// part of its buffer is empty. A pure state machine.
struct WriteThroughputMonitor {
    /// Since when it is counted what the client takes, how much the kernel had of it then, and how much it was given since.
    private(set) var since = MonotonicInstant(nanoseconds: 0)
    private var unsentBefore = 0
    private var handedOver = 0
    /// Bytes that the client has taken beyond what it had to.
    private var credit = 0.0

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - unsent: bytes that the kernel has.
    ///   - required: bytes that the client has to take in the time for that.
    mutating func begin(at now: MonotonicInstant, unsent: Int, required: Double) {
        measure(now, unsent)
        credit = 2 * required
    }

    /// The kernel was given some more.
    mutating func handOver(_ count: Int) { handedOver += count }

    /// The time for taking some of what waits is over: whether the client took enough for another.
    ///
    /// Clients make room in steps: what one took beyond what it had to counts for the next time, as far as that.
    mutating func isEnough(at now: MonotonicInstant, unsent: Int, required: Double) -> Bool {
        let taken = unsentBefore + handedOver - unsent
        credit = min(credit + Double(max(0, taken)), 3 * required) - required
        measure(now, unsent)
        return required > 0 ? credit > 0 : taken > 0
    }

    private mutating func measure(_ now: MonotonicInstant, _ unsent: Int) {
        since = now
        unsentBefore = unsent
        handedOver = 0
    }
}
