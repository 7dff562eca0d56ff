/// The time that is known to have passed. By it is decided what is old enough to be removed.
///
/// A clock that is set ahead by mistake, by a time server or after a machine was restored, must not remove what a right one keeps. So this
/// time follows the clock where that has gone on no more than ``slack`` beyond what was seen to pass. A leap beyond that is believed once
/// the clock has stood ahead for ``proof``; until then this time goes on by itself. A clock that goes back is believed at once: nothing is
/// removed too early by that.
package struct RetentionClock: Sendable, Hashable {
    /// Milliseconds that the clock may leap ahead: a service that was stopped over night goes on as it was. A day.
    package static let maxForwardJump: Int64 = 86_400_000
    /// Milliseconds of running that a longer leap has to last. Seven days.
    package static let jumpConfirmation: Int64 = 7 * 86_400_000

    /// The moment that has certainly come, in milliseconds since 1970-01-01 UTC.
    package private(set) var now: Int64
    /// What the clock said last.
    package private(set) var clock: Int64
    /// For how many milliseconds of running the clock has stood ahead; nil where it does not.
    package private(set) var unconfirmed: Int64?

    /// - Parameter clock: what it said when `reached` was found.
    package init(now: Int64, clock: Int64, unconfirmed: Int64? = nil) {
        self.now = now
        self.clock = clock
        self.unconfirmed = unconfirmed
    }

    /// How far the clock stands ahead, in milliseconds.
    package var lead: Int64 { clock.subtractingReportingOverflow(now).partialValue }

    /// - Parameters:
    ///   - clock: what it says now, in milliseconds since 1970-01-01 UTC.
    ///   - elapsed: what a watch that nobody sets has shown since the call before; zero where there was none since the start.
    package mutating func advance(to clock: Int64, after elapsed: Duration) {
        // Several processes may tell the same hour.
        let told = max(0, clock.subtractingReportingOverflow(self.clock).partialValue)
        let passed = min(Int64(clamping: elapsed.components.seconds).multipliedReportingOverflow(by: 1_000).partialValue, told)
        self.clock = clock
        let expected = now.addingReportingOverflow(passed).partialValue
        let lasted = (unconfirmed ?? 0) + passed
        guard clock.subtractingReportingOverflow(expected).partialValue > Self.maxForwardJump, lasted < Self.jumpConfirmation else {
            (now, unconfirmed) = (clock, nil)
            return
        }
        (now, unconfirmed) = (expected, lasted)
    }
}
