internal import Foundation

/// The time of day.
enum WallClock {
    /// Milliseconds since 1970-01-01 UTC.
    @Sendable static func now() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000)
    }
}
