internal import IntertwineFeed
internal import IntertwineStorageCore

extension RateCounterKey {
    var bitIndexes: InlineArray<4, Int> {
        [Int(high >> 32), Int(UInt32(truncatingIfNeeded: high)), Int(low >> 32), Int(UInt32(truncatingIfNeeded: low))]
    }
}

extension RateCounterKeys {
    func forEach(_ event: LedgerEvent, _ body: (RateCounterKey, _ window: Int64, _ isRecorded: Bool) -> Void) {
        let window = event.deduplication?.window ?? 0
        for key in repeats where !recorded.contains(key) { body(key, window, false) }
        for key in required { body(key, event.requiredPriorEvent?.window ?? 0, false) }
        for key in recorded { body(key, window, true) }
        for (rate, key) in zip(event.rates, rates) { body(key, rate.window, true) }
    }
}

struct RateCounterDecisions: RateCounterStore {
    private struct RateCounter {
        var until: Int64
        var used: Int64
        var isStored: Bool
        var isChanged = false
    }

    private enum CounterLocation {
        case shared, table
    }

    private let shared: SharedRateCounters
    private var stored: [RateCounterKey: RateCounter] = [:]
    private let requestedKeys: Set<RateCounterKey>
    let mode: SharedRateCounters.Mode
    /// True if a decision relies on a key that was treated as new and is not written, so that no key conflict would show an error.
    private(set) var isUnsure = false

    init(requestedKeys: Set<RateCounterKey>, _ shared: SharedRateCounters, _ mode: SharedRateCounters.Mode) {
        (self.requestedKeys, self.shared, self.mode) = (requestedKeys, shared, mode)
    }

    var storedKeys: some Sequence<RateCounterKey> { stored.keys }

    var questions: [SQLCommand] {
        guard !requestedKeys.isEmpty else { return [] }
        return [
            SQLCommand(
                "SELECT key, until, used FROM allowance WHERE key = ANY ($1) ORDER BY key FOR UPDATE",
                [.blobs(requestedKeys.sorted().map(\.bytes))])
        ]
    }

    mutating func apply(_ rows: PostgresRows) {
        rows.forEach { row in
            guard let key = RateCounterKey(row.view(0)) else { return }
            stored[key] = RateCounter(until: row.integer(1), used: row.integer(2), isStored: true)
        }
    }

    private func location(of key: RateCounterKey, at moment: EventMoment, _ window: Int64) -> CounterLocation {
        guard SharedRateCounters.isShort(window) else { return .table }
        if let counter = shared[key], moment.isWithin(counter.until, window: window) { return .shared }
        if let counter = stored[key], moment.isWithin(counter.until, window: window) { return .table }
        return mode.writesTable ? .table : .shared
    }

    func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, claims: Bool) -> Int64 {
        let (until, used): (Int64, Int64) =
            switch location(of: key, at: moment, window) {
            case .shared: (shared[key]?.until ?? .min, Int64(shared[key]?.used ?? 0))
            case .table: (stored[key]?.until ?? .min, stored[key]?.used ?? 0)
            }
        return moment.isWithin(until, window: window) ? used : 0
    }

    mutating func use(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool) {
        var (until, isEndless) = moment.event.addingReportingOverflow(window)
        if isEndless { until = .max }
        let before = restarts ? 0 : used(key, at: moment, window, claims: true)
        switch location(of: key, at: moment, window) {
        case .shared:
            shared.set(key, until: before > 0 ? shared[key]?.until ?? until : until, used: before &+ 1)
        case .table:
            let known = stored[key]
            let end = before > 0 ? known?.until ?? until : until
            stored[key] = RateCounter(until: end, used: before &+ 1, isStored: known?.isStored ?? false, isChanged: true)
            if SharedRateCounters.isShort(window) { shared.spill(until: end) }
        }
    }

    mutating func hasRejected(_ event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment) {
        keys.forEach(event) { key, window, _ in
            guard location(of: key, at: moment, window) == .table else { return }
            isUnsure = isUnsure || !requestedKeys.contains(key) && stored[key] == nil
        }
    }

    var commands: [SQLCommand] {
        let changed = stored.filter(\.value.isChanged).sorted { $0.key < $1.key }
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
