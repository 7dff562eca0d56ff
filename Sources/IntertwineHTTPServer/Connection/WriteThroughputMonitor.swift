internal import IntertwineEventLoop

/// A state machine that decides if a client receives queued bytes fast enough. It uses the kernel's count of unsent bytes,
/// because the kernel reports writability only after a large part of its buffer is empty.
struct WriteThroughputMonitor {
    /// The beginning of the measurement, the kernel's unsent bytes at that instant, and the bytes handed to the kernel since.
    private(set) var since = MonotonicInstant(nanoseconds: 0)
    private var unsentBefore = 0
    private var handedOver = 0
    /// The number of bytes that the client has received beyond the required number.
    private var credit = 0.0

    /// Begins a measurement.
    ///
    /// - Parameters:
    ///   - unsent: The number of bytes in the kernel's buffer.
    ///   - required: The number of bytes that the client has to receive within the write timeout.
    mutating func begin(at now: MonotonicInstant, unsent: Int, required: Double) {
        measure(now, unsent)
        credit = 2 * required
    }

    /// Records bytes that were handed to the kernel.
    mutating func handOver(_ count: Int) { handedOver += count }

    /// Returns true if the client received enough within the write timeout to be granted another one.
    ///
    /// Clients free their buffers in steps. Bytes received beyond the required number count for later measurements, up to twice that number.
    mutating func isEnough(at now: MonotonicInstant, unsent: Int, required: Double) -> Bool {
        let sent = unsentBefore + handedOver - unsent
        credit = min(credit + Double(max(0, sent)), 3 * required) - required
        measure(now, unsent)
        return required > 0 ? credit > 0 : sent > 0
    }

    private mutating func measure(_ now: MonotonicInstant, _ unsent: Int) {
        since = now
        unsentBefore = unsent
        handedOver = 0
    }
}
