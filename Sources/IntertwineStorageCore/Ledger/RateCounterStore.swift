package import IntertwineFeed

/// The rate counters that decide the verdict of an event: it counts if it is no duplicate and within its rate limits.
///
/// A window begins with the first event that counts, and ends for all of its events together. Events that do not count use nothing, so
/// further attempts above a limit do not extend the window. A stored window that began ahead of now by its length or more was written while
/// the clock was wrong, and counts as expired.
package protocol RateCounterStore {
    /// Returns the number of uses of a key within its current window.
    ///
    /// - Parameter claims: true if the key is used when the event counts.
    mutating func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) throws -> Int64

    /// Counts one use of a key.
    ///
    /// - Parameter restarts: true if a new window begins in any case.
    mutating func use(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool) throws

    /// Notes that the counters have rejected an event.
    mutating func hasRejected(_ event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment)
}

extension RateCounterStore {
    package func hasRejected(_ event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment) {}

    /// Decides the verdict of an event, and counts it if it is valid.
    ///
    /// - Parameter now: the time of the commit, which can be later than the event.
    package mutating func verdict(on event: LedgerEvent, _ keys: RateCounterKeys, committedAt now: Int64) throws -> Verdict {
        let moment = EventMoment(of: event, committedAt: now)
        let verdict = try verdict(on: event, keys, at: moment)
        guard verdict == .counted else {
            hasRejected(event, keys, at: moment)
            return verdict
        }
        if let duplicates = event.deduplication {
            for key in keys.recorded { try use(key, at: moment, duplicates.window, restarts: true) }
        }
        for (rate, key) in zip(event.rates, keys.rates) { try use(key, at: moment, rate.window, restarts: false) }
        return verdict
    }

    private mutating func verdict(on event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment) throws -> Verdict {
        if let duplicates = event.deduplication {
            for key in keys.repeats where try used(key, at: moment, duplicates.window, claims: keys.recorded.contains(key)) > 0 {
                return .duplicate
            }
        }
        if let required = event.requiredPriorEvent,
            try !keys.required.contains(where: { try used($0, at: moment, required.window, claims: false) > 0 })
        {
            return .unseen
        }
        for (rate, key) in zip(event.rates, keys.rates) where try used(key, at: moment, rate.window, claims: true) >= rate.limit {
            return .limited
        }
        return .counted
    }
}
