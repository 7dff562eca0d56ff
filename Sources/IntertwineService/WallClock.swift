internal import Foundation

/// The time of day.
enum WallClock {
    /// Milliseconds since 1970-01-01 UTC.
    @Sendable static func now() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000)
    }

    /// The same in whole seconds, for a tenth of the price: for what happens with every request and needs no more.
    @Sendable static func coarse() -> Int64 {
        Int64(time(nil)) * 1_000
    }
}
