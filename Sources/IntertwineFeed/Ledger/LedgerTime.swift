/// How every ledger, and what is made of it, divides time.
package enum LedgerTime {
    /// No window is longer than that, or than the longest that a process has met since its start. 32 days, in milliseconds.
    private static let longestWindow: Int64 = 32 * 86_400_000
    /// How far the times of two events may be apart that come in another order than they happened. Milliseconds.
    package static let disorder: Int64 = 10_000

    /// When a window ends at the latest that begins at a moment or, in another order, somewhat later.
    package static func latestEnd(at moment: Int64, window: Int64) -> Int64 {
        let (end, isEndless) = moment.addingReportingOverflow(window)
        let (latest, isLater) = end.addingReportingOverflow(disorder)
        return isEndless || isLater ? .max : latest
    }

    /// What ends later was written by a clock that was ahead, whatever its window.
    ///
    /// - Parameter longestMet: the longest window of the events since the start. Others may have written longer ones.
    package static func latestEnd(at moment: Int64, longestMet: Int64) -> Int64 {
        latestEnd(at: moment, window: max(longestMet, longestWindow))
    }

    /// Before it, whatever ends is over for every event that may still come.
    package static func earliestEnd(at moment: Int64) -> Int64 {
        let (end, isTooEarly) = moment.subtractingReportingOverflow(disorder)
        return isTooEarly ? .min : end
    }

    /// Quarters of an hour since 1970-01-01 UTC; times before it are in none of those that are asked for.
    package static func span(of moment: Int64) -> Int64 { max(0, moment / 900_000) }

    /// Days since 1970-01-01 UTC; times before it are on negative days.
    package static func day(of moment: Int64) -> Int64 { spans(of: 86_400_000, in: moment) }

    /// Spans of any length since 1970-01-01 UTC; times before it are in negative ones.
    package static func spans(of length: Int64, in moment: Int64) -> Int64 {
        moment >= 0 ? moment / length : (moment + 1) / length - 1
    }
}

/// When an event happened and when it is committed, which may be a while later.
package struct EventMoment: Sendable {
    /// When it happened.
    package let event: Int64
    private let commit: Int64

    /// - Parameter now: when it is committed.
    package init(of event: LedgerEvent, committedAt now: Int64) {
        (self.event, commit) = (event.at, max(event.at, now))
    }

    /// Whether a window that ends at a time has begun and is not over. One that ends later than one that begins with the commit began while
    /// a clock was ahead: it is over.
    package func isWithin(_ until: Int64, window: Int64) -> Bool {
        until > event && until <= LedgerTime.latestEnd(at: commit, window: window)
    }
}
