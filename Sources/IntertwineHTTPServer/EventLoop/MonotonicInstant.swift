internal import CIntertwineLinux

/// An instant of the monotonic clock, in nanoseconds. Setting the wall clock does not change it.
///
/// ```swift
/// let start = MonotonicInstant.now()
/// let deadline = start.advanced(by: .seconds(5))
/// deadline.since(start)  // 5 seconds
/// ```
package struct MonotonicInstant: Comparable, Hashable, Sendable {
    /// The nanoseconds since an unspecified start, usually that of the machine.
    package let nanoseconds: Int64

    /// Creates an instant from the value of ``nanoseconds``.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the current time of the monotonic clock.
    package static func now() -> MonotonicInstant {
        MonotonicInstant(nanoseconds: clinux_monotonic_nanoseconds())
    }

    /// Returns a later instant, or the largest instant if the sum overflows.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return MonotonicInstant(nanoseconds: overflow ? .max : sum)
    }

    /// Returns the time from `earlier` to this instant.
    package func since(_ earlier: MonotonicInstant) -> Duration {
        .nanoseconds(nanoseconds &- earlier.nanoseconds)
    }

    /// Returns true if the left instant is earlier.
    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Whole nanoseconds, saturating at about 292 years.
    var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
