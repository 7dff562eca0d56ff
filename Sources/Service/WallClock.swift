internal import Glibc

/// The time of day.
enum WallClock {
    /// Milliseconds since 1970-01-01 UTC.
    @Sendable static func now() -> Int64 { read(CLOCK_REALTIME) }

    /// The same as of the kernel's last tick, a few milliseconds ago: for what happens with every request and needs seconds.
    @Sendable static func coarse() -> Int64 { read(CLOCK_REALTIME_COARSE) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
