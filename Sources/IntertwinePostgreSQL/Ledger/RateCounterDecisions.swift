internal import IntertwineFeed
internal import IntertwineStorageCore

extension RateCounterKey {
    /// Four numbers below 2³², as good as random.
    var bitIndexes: InlineArray<4, Int> {
        [Int(high >> 32), Int(UInt32(truncatingIfNeeded: high)), Int(low >> 32), Int(UInt32(truncatingIfNeeded: low))]
    }
}

extension RateCounterKeys {
    /// Calls `body` with each key of an event, its window, and whether the event stores the key if it counts. Other keys are only read.
    func forEach(_ event: LedgerEvent, _ body: (RateCounterKey, _ window: Int64, _ isRecorded: Bool) -> Void) {
        let window = event.deduplication?.window ?? 0
        for key in repeats where !recorded.contains(key) { body(key, window, false) }
        for key in required { body(key, event.requiredPriorEvent?.window ?? 0, false) }
        for key in recorded { body(key, window, true) }
        for (rate, key) in zip(event.rates, rates) { body(key, rate.window, true) }
    }
}

/// Decides if an event counts: the first of its duplicates, and within its rate limits. It is the counterpart of `RateCounterTable` for SQLite.
///
/// The caller stores the table rows of a group's keys, and writes the changed rows with `commands`. Short windows are in ``SharedRateCounters``.
struct RateCounterDecisions {
    private struct RateCounter {
        var until: Int64
        var used: Int64
        /// True if the table has a row, which this transaction has locked.
        var isStored: Bool
        var isChanged = false
    }

    private enum CounterLocation {
        case shared, table
    }

    private var allowances: [RateCounterKey: RateCounter] = [:]
    /// The keys that were looked up in the table. All others are treated as new.
    let requestedKeys: Set<RateCounterKey>
    /// The location of short windows.
    let mode: SharedRateCounters.Mode

    init(requestedKeys: Set<RateCounterKey>, _ mode: SharedRateCounters.Mode) {
        (self.requestedKeys, self.mode) = (requestedKeys, mode)
    }

    /// Returns true if the decision relies on a key that was treated as new and is not written, so that no key conflict would show an error.
    func isGuess(_ event: LedgerEvent, _ keys: RateCounterKeys, committedAt now: Int64, _ shared: SharedRateCounters) -> Bool {
        let moment = EventMoment(of: event, committedAt: now)
        var isGuess = false
        keys.forEach(event) { key, window, _ in
            guard location(of: key, at: moment, window, shared) == .table else { return }
            isGuess = isGuess || !requestedKeys.contains(key) && allowances[key] == nil
        }
        return isGuess
    }

    /// The keys that have a row now.
    var storedKeys: some Sequence<RateCounterKey> { allowances.keys }

    mutating func store(_ key: RateCounterKey, until: Int64, used: Int64) {
        allowances[key] = RateCounter(until: until, used: used, isStored: true)
    }

    /// - Parameter now: when the event is committed, which may be a while after it happened.
    mutating func verdict(
        on event: LedgerEvent, _ keys: RateCounterKeys, committedAt now: Int64, _ shared: inout SharedRateCounters
    ) -> Verdict {
        let moment = EventMoment(of: event, committedAt: now)
        if let duplicates = event.deduplication {
            for key in keys.repeats where used(key, at: moment, duplicates.window, shared) > 0 { return .duplicate }
        }
        if let required = event.requiredPriorEvent, !keys.required.contains(where: { used($0, at: moment, required.window, shared) > 0 }) {
            return .unseen
        }
        for (rate, key) in zip(event.rates, keys.rates) where used(key, at: moment, rate.window, shared) >= rate.limit { return .limited }
        if let duplicates = event.deduplication {
            for key in keys.recorded { use(key, at: moment, duplicates.window, restarts: true, &shared) }
        }
        for (rate, key) in zip(event.rates, keys.rates) { use(key, at: moment, rate.window, restarts: false, &shared) }
        return .counted
    }

    private func location(of key: RateCounterKey, at moment: EventMoment, _ window: Int64, _ shared: SharedRateCounters) -> CounterLocation
    {
        guard SharedRateCounters.isShort(window) else { return .table }
        if let allowance = shared[key], moment.isWithin(allowance.until, window: window) { return .shared }
        if let allowance = allowances[key], moment.isWithin(allowance.until, window: window) { return .table }
        return mode.writesTable ? .table : .shared
    }

    private func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, _ shared: SharedRateCounters) -> Int64 {
        let (until, used): (Int64, Int64) =
            switch location(of: key, at: moment, window, shared) {
            case .shared: (shared[key]?.until ?? .min, Int64(shared[key]?.used ?? 0))
            case .table: (allowances[key]?.until ?? .min, allowances[key]?.used ?? 0)
            }
        return moment.isWithin(until, window: window) ? used : 0
    }

    /// Adds one use to a counter.
    ///
    /// - Parameter restarts: True if a new window begins in any case.
    private mutating func use(
        _ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool, _ shared: inout SharedRateCounters
    ) {
        var (until, isEndless) = moment.event.addingReportingOverflow(window)
        if isEndless { until = .max }
        let before = restarts ? 0 : used(key, at: moment, window, shared)
        switch location(of: key, at: moment, window, shared) {
        case .shared:
            shared.set(key, until: before > 0 ? shared[key]?.until ?? until : until, used: before &+ 1)
        case .table:
            let known = allowances[key]
            let end = before > 0 ? known?.until ?? until : until
            allowances[key] = RateCounter(until: end, used: before &+ 1, isStored: known?.isStored ?? false, isChanged: true)
            if SharedRateCounters.isShort(window) { shared.spill(until: end) }
        }
    }

    /// The commands that write the changed rows, in the order of the keys.
    var commands: [SQLCommand] {
        let changed = allowances.filter(\.value.isChanged).sorted { $0.key < $1.key }
        return [
            (
                changed.filter(\.value.isStored),
                """
                UPDATE allowance SET until = new.until, used = new.used
                FROM unnest($1, $2, $3) AS new (key, until, used) WHERE allowance.key = new.key
                """
            ), (changed.filter { !$0.value.isStored }, "INSERT INTO allowance (key, until, used) SELECT * FROM unnest($1, $2, $3)"),
        ].compactMap { rows, sql in
            guard !rows.isEmpty else { return nil }
            return SQLCommand(
                sql, [.blobs(rows.map(\.key.bytes)), .integers(rows.map(\.value.until)), .integers(rows.map(\.value.used))])
        }
    }
}
