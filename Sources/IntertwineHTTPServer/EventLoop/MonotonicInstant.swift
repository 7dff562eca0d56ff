internal import CIntertwineLinux

package struct MonotonicInstant: Comparable, Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func now() -> MonotonicInstant {
        MonotonicInstant(nanoseconds: clinux_monotonic_nanoseconds())
    }

    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return MonotonicInstant(nanoseconds: overflow ? .max : sum)
    }

    package func since(_ earlier: MonotonicInstant) -> Duration {
        .nanoseconds(nanoseconds &- earlier.nanoseconds)
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
