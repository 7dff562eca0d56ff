/// The time arithmetic that all ledgers, and the data derived from them, share.
package enum LedgerTime {
    /// The longest window, in milliseconds: 32 days. A process that has met a longer window since its start uses that one instead.
    private static let longestWindow: Int64 = 32 * 86_400_000
    /// The maximum time by which events may arrive out of order, in milliseconds.
    static let disorder: Int64 = 10_000

    /// Returns the latest end of a window that begins at `moment`, or up to ``disorder`` later for an event out of order.
    package static func latestEnd(at moment: Int64, window: Int64) -> Int64 {
        let (end, isEndless) = moment.addingReportingOverflow(window)
        let (latest, isLater) = end.addingReportingOverflow(disorder)
        return isEndless || isLater ? .max : latest
    }

    /// Returns the latest valid end of a window that a record has: one that began ahead of `moment` by less than its length.
    ///
    /// Why: a clock that is set back by less than a window must not make what happened in the window count again. A record further ahead was
    /// written while the clock was wrong.
    package static func latestValidEnd(at moment: Int64, window: Int64) -> Int64 {
        latestEnd(at: moment, window: window.addingReportingOverflow(window).overflow ? .max : 2 * window)
    }

    /// Returns the latest valid end of any window.
    ///
    /// - Parameter longestMet: the longest window of the events since the start. Other processes may have written longer windows.
    package static func latestValidEnd(at moment: Int64, longestMet: Int64) -> Int64 {
        latestValidEnd(at: moment, window: max(longestMet, longestWindow))
    }

    /// Returns the time before which a window must end to be over for all events that can still arrive.
    package static func earliestEnd(at moment: Int64) -> Int64 {
        let (end, isTooEarly) = moment.subtractingReportingOverflow(disorder)
        return isTooEarly ? .min : end
    }

    /// Returns the quarter hour since 1970-01-01 UTC. Times before 1970 return 0, which no query includes.
    package static func span(of moment: Int64) -> Int64 { max(0, moment / 900_000) }

    /// Returns the day since 1970-01-01 UTC. Times before 1970 return negative days.
    package static func day(of moment: Int64) -> Int64 { spans(of: 86_400_000, in: moment) }

    /// Returns the number of whole spans of a length since 1970-01-01 UTC, rounded down. Times before 1970 return negative numbers.
    package static func spans(of length: Int64, in moment: Int64) -> Int64 {
        moment >= 0 ? moment / length : (moment + 1) / length - 1
    }
}

/// The time of an event and the time of its commit, which may be later.
package struct EventMoment: Sendable {
    /// The time of the event.
    package let event: Int64
    private let commit: Int64

    /// - Parameter now: the time of the commit.
    package init(of event: LedgerEvent, committedAt now: Int64) {
        (self.event, commit) = (event.at, max(event.at, now))
    }

    /// Returns true if a window that ends at `until` is active.
    ///
    /// A window that began ahead of the commit by its length or more counts as over: the clock was wrong.
    package func isWithin(_ until: Int64, window: Int64) -> Bool {
        until > event && until <= LedgerTime.latestValidEnd(at: commit, window: window)
    }
}
