package import IntertwineFeed

/// The rate counters that decide the verdict of an event: it counts if it is no duplicate and within its rate limits.
package protocol RateCounterStore {
    mutating func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) throws -> Int64

    mutating func use(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool) throws

    mutating func hasRejected(_ event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment)
}

extension RateCounterStore {
    package func hasRejected(_ event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment) {}

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
