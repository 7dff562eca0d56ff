internal import Glibc

package enum WallClock {
    /// Returns the milliseconds since 1970-01-01 UTC.
    @Sendable package static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    @Sendable package static func coarse() -> Int64 {
        Int64(time(nil)) * 1_000
    }
}

extension Duration {
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflow ? .max : whole + attoseconds / 1_000_000_000_000_000
    }
}
