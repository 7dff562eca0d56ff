import GRDB
import IntertwineFeed

/// Decides whether an event still counts: the first of its duplicates, and within its rates.
///
/// A rate's window begins with the first event that counts and ends for all of its events together. Events that do not count use nothing up:
/// whoever is over a limit is not kept over it by trying. A window that ends later than one that begins now began while the clock was ahead:
/// it is over.
///
/// Short windows, as clicks have, are in memory, and on disk in the order in which they begin. Long ones, and those that memory has no room
/// for, are in a tree on disk. Other processes' are read before anything is decided.
package struct RateCounterTable {
    /// How long a window of those may last that are kept in memory. Milliseconds.
    package static let longestRecent: Int64 = 300_000
    /// What memory may hold: 1.5 million allowances, 48 MiB. Fewer take less.
    package static let recentSlots = 1 << 21

    private var recent: RecentRateCounters
    private var log: RateCounterLog
    private var stored: StoredRateCounters
    /// Until when something of a short window may stand in the tree; and that of the group.
    private var spilled: (until: Int64, own: Int64?) = (.min, nil)
    /// Whether reading what others wrote has written something.
    private var hasMoved = false
    /// When the last event was.
    private var moment: Int64 = .min
    /// The longest window of the events so far.
    private(set) var longestWindow: Int64 = 0

    init(_ database: Database, recentSlots: Int = Self.recentSlots) throws {
        recent = RecentRateCounters(mostSlots: recentSlots)
        log = try RateCounterLog(database)
        stored = try StoredRateCounters(database)
    }

    /// The first thing in a transaction.
    mutating func begin() throws {
        let moment = moment
        recent.tidy { $0 <= LedgerTime.earliestEnd(at: moment) || !Self.isCredible($0, at: moment) }
        var log = log
        defer { self.log = log }
        try log.read { key, allowance in
            if recent.allowance(key) != nil || !recent.isFull { return recent.store(key, allowance) }
            hasMoved = true
            try stored.store(key, until: allowance.until, used: Int64(allowance.used))
            spill(until: allowance.until)
        } spilled: {
            spilled.until = max(spilled.until, $0)
        }
    }

    private static func isCredible(_ until: Int64, at moment: Int64) -> Bool {
        moment == .min || until <= LedgerTime.latestEnd(at: moment, window: longestRecent)
    }

    /// - Parameter now: when the event is committed, which may be a while after it happened.
    mutating func verdict(on event: LedgerEvent, committedAt now: Int64) throws -> Verdict {
        moment = event.at
        let moment = EventMoment(of: event, committedAt: now)
        let keys = RateCounterKeys(event)
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
        if let duplicates = event.deduplication {
            for key in keys.recorded { try use(key, at: moment, duplicates.window, restarts: true) }
        }
        for (rate, key) in zip(event.rates, keys.rates) { try use(key, at: moment, rate.window, restarts: false) }
        return .counted
    }

    /// The last thing before the group is committed.
    ///
    /// - Returns: rows that are there until their time is over, and those that were put there and taken away again.
    mutating func write() throws -> (kept: Int, removed: Int) {
        var rows = try stored.write()
        let changed = recent.changed
        guard !changed.isEmpty || spilled.own != nil else { return rows }
        try log.write(changed, spilled: spilled.own)
        rows.kept += 1
        return rows
    }

    mutating func hasCommitted() {
        recent.hasCommitted()
        log.hasCommitted()
        if let own = spilled.own { spilled = (max(spilled.until, own), nil) }
        hasMoved = false
    }

    /// The group was rolled back.
    mutating func discard() {
        stored.discard()
        recent.discard()
        log.discard()
        spilled.own = nil
        // What was read of others is nowhere now.
        if hasMoved { log.forget() }
        hasMoved = false
    }

    // MARK: Where a key is

    private enum CounterLocation {
        case recent(RecentRateCounters.RateCounter?)
        /// Under its number.
        case stored(Int)
    }

    /// - Parameter claims: whether it is used if the event counts.
    private mutating func location(of key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) throws -> CounterLocation
    {
        func inTree() throws -> CounterLocation {
            .stored(claims ? try stored.claimed(key, until: Self.end(of: window, from: moment.event)) : try stored.read(key))
        }
        guard window <= Self.longestRecent else { return try inTree() }
        if let allowance = recent.allowance(key) { return .recent(allowance) }
        if max(spilled.until, spilled.own ?? .min) > moment.event {
            let number = try stored.read(key)
            if moment.isWithin(stored[number].until, window: window) { return .stored(number) }
        }
        return recent.isFull ? try inTree() : .recent(nil)
    }

    private mutating func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) throws -> Int64 {
        longestWindow = max(longestWindow, window)
        let (until, used): (Int64, Int64) =
            switch try location(of: key, at: moment, window, claims: claims) {
            case .recent(let allowance): (allowance?.until ?? .min, Int64(allowance?.used ?? 0))
            case .stored(let number): (stored[number].until, stored[number].used)
            }
        return moment.isWithin(until, window: window) ? used : 0
    }

    /// - Parameter anew: whether a window begins in any case.
    private mutating func use(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool) throws {
        let end = Self.end(of: window, from: moment.event)
        switch try location(of: key, at: moment, window, claims: true) {
        case .recent(let allowance?) where !restarts && moment.isWithin(allowance.until, window: window):
            let (used, isTooMuch) = allowance.used.addingReportingOverflow(1)
            recent.set(key, RecentRateCounters.RateCounter(until: allowance.until, used: isTooMuch ? .max : used))
        case .recent: recent.set(key, RecentRateCounters.RateCounter(until: end, used: 1))
        case .stored(let number):
            if !restarts, moment.isWithin(stored[number].until, window: window) {
                stored.use(number)
            } else {
                stored.begin(number, until: end)
            }
            if window <= Self.longestRecent { spill(until: stored[number].until) }
        }
    }

    /// Whoever asks for a short window looks into the tree too, until then.
    private mutating func spill(until end: Int64) {
        if end > spilled.until { spilled.own = max(spilled.own ?? .min, end) }
    }

    private static func end(of window: Int64, from moment: Int64) -> Int64 {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        return isEndless ? .max : until
    }
}
