package enum LedgerTime {
    /// The longest window, in milliseconds: 32 days.
    private static let longestWindow: Int64 = 32 * 86_400_000
    /// The maximum time by which events may arrive out of order, in milliseconds.
    static let disorder: Int64 = 10_000

    package static func latestEnd(at moment: Int64, window: Int64) -> Int64 {
        let (end, isEndless) = moment.addingReportingOverflow(window)
        let (latest, isLater) = end.addingReportingOverflow(disorder)
        return isEndless || isLater ? .max : latest
    }

    /// Why: a clock that is set back by less than a window must not make what happened in the window count again. A record further ahead
    /// was written while the clock was wrong.
    package static func latestValidEnd(at moment: Int64, window: Int64) -> Int64 {
        latestEnd(at: moment, window: window.addingReportingOverflow(window).overflow ? .max : 2 * window)
    }

    package static func latestValidEnd(at moment: Int64, longestMet: Int64) -> Int64 {
        latestValidEnd(at: moment, window: max(longestMet, longestWindow))
    }

    /// Returns the time before which a window must end to be over for all events that can still arrive.
    package static func earliestEnd(at moment: Int64) -> Int64 {
        let (end, isTooEarly) = moment.subtractingReportingOverflow(disorder)
        return isTooEarly ? .min : end
    }

    package static func span(of moment: Int64) -> Int64 { max(0, moment / 900_000) }

    package static func day(of moment: Int64) -> Int64 { spans(of: 86_400_000, in: moment) }

    package static func spans(of length: Int64, in moment: Int64) -> Int64 {
        moment >= 0 ? moment / length : (moment + 1) / length - 1
    }
}

package struct EventMoment: Sendable {
    package let event: Int64
    private let commit: Int64

    package init(of event: LedgerEvent, committedAt now: Int64) {
        (self.event, commit) = (event.at, max(event.at, now))
    }

    package func isWithin(_ until: Int64, window: Int64) -> Bool {
        until > event && until <= LedgerTime.latestValidEnd(at: commit, window: window)
    }
}
