import GRDB
internal import IntertwineFeed

/// The rate counters of an SQLite ledger.
struct RateCounterTable: RateCounterStore {
    private var recent: RecentRateCounters
    private var log: RateCounterLog
    private var stored: StoredRateCounters
    private var spilled: (until: Int64, own: Int64?) = (.min, nil)
    private var hasMoved = false
    private var moment: Int64 = .min
    /// The longest window of the events so far, in milliseconds.
    private(set) var longestWindow: Int64 = 0

    var memory: (count: Int, bytes: Int) { (recent.count, recent.bytes) }

    init(_ database: Database, recentSlots: Int = RecentRateCounters.defaultSlots) throws {
        recent = RecentRateCounters(mostSlots: recentSlots)
        log = try RateCounterLog(database)
        stored = try StoredRateCounters(database)
    }

    /// Call it first in a transaction.
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
        moment == .min || until <= LedgerTime.latestValidEnd(at: moment, window: RecentRateCounters.longestWindow)
    }

    /// Call it before the group is committed.
    mutating func write() throws -> (written: Int, removed: Int) {
        var rows = try stored.write()
        let changed = recent.changed
        guard !changed.isEmpty || spilled.own != nil else { return rows }
        try log.write(changed, spilled: spilled.own)
        rows.written += 1
        return rows
    }

    mutating func hasCommitted() {
        recent.hasCommitted()
        log.hasCommitted()
        if let own = spilled.own { spilled = (max(spilled.until, own), nil) }
        hasMoved = false
    }

    mutating func discard() {
        stored.discard()
        recent.discard()
        log.discard()
        spilled.own = nil
        // Counters of other processes were moved to the tree in this transaction, and are read again.
        if hasMoved { log.forget() }
        hasMoved = false
    }

    // MARK: Location of a key

    private enum CounterLocation {
        case recent(RecentRateCounters.RateCounter?)
        case stored(Int)
    }

    private mutating func location(of key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) throws -> CounterLocation
    {
        func inTree() throws -> CounterLocation {
            .stored(claims ? try stored.claimed(key, until: Self.end(of: window, from: moment.event)) : try stored.read(key))
        }
        guard window <= RecentRateCounters.longestWindow else { return try inTree() }
        if let allowance = recent.allowance(key) { return .recent(allowance) }
        if max(spilled.until, spilled.own ?? .min) > moment.event {
            let number = try stored.read(key)
            if moment.isWithin(stored[number].until, window: window) { return .stored(number) }
        }
        return recent.isFull ? try inTree() : .recent(nil)
    }

    mutating func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) throws -> Int64 {
        self.moment = moment.event
        longestWindow = max(longestWindow, window)
        let (until, used): (Int64, Int64) =
            switch try location(of: key, at: moment, window, claims: claims) {
            case .recent(let allowance): (allowance?.until ?? .min, Int64(allowance?.used ?? 0))
            case .stored(let number): (stored[number].until, stored[number].used)
            }
        return moment.isWithin(until, window: window) ? used : 0
    }

    mutating func use(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool) throws {
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
            if window <= RecentRateCounters.longestWindow { spill(until: stored[number].until) }
        }
    }

    private mutating func spill(until end: Int64) {
        if end > spilled.until { spilled.own = max(spilled.own ?? .min, end) }
    }

    private static func end(of window: Int64, from moment: Int64) -> Int64 {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        return isEndless ? .max : until
    }
}
