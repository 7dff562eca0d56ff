/// A system clock that is wrongly set ahead, by a time server or after a machine was restored, must not cause the removal of events. A
/// system clock that moves back is accepted at once, because no event is removed too early by that.
package struct RetentionClock: Sendable, Hashable {
    /// The longest forward jump that is accepted at once, in milliseconds: one day.
    static let maxForwardJump: Int64 = 86_400_000
    /// The running time for which a longer jump must persist, in milliseconds: seven days.
    static let jumpConfirmation: Int64 = 7 * 86_400_000

    /// The confirmed time in milliseconds since 1970-01-01 UTC.
    package private(set) var now: Int64
    package private(set) var clock: Int64
    /// The running time in milliseconds for which the system clock has been ahead, or nil if it is not ahead.
    package private(set) var unconfirmed: Int64?

    package init(now: Int64, clock: Int64, unconfirmed: Int64? = nil) {
        self.now = now
        self.clock = clock
        self.unconfirmed = unconfirmed
    }

    /// The milliseconds by which the system clock is ahead.
    package var lead: Int64 { clock.subtractingReportingOverflow(now).partialValue }

    package mutating func advance(to clock: Int64, after elapsed: Duration) {
        // Several processes may report one hour, so the elapsed time is limited to the advance of the system clock.
        let reported = max(0, clock.subtractingReportingOverflow(self.clock).partialValue)
        let passed = min(Int64(clamping: elapsed.components.seconds).multipliedReportingOverflow(by: 1_000).partialValue, reported)
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
