package import IntertwineFeed

/// The rate counters that decide the verdict of an event: it counts if it is no duplicate and within its rate limits.
/// Why a log: keys are digests in random order. In a tree each key would dirty its own page; in the log many keys share one.
package final class RateCounters {
    private struct StoredCounter {
        var until: Int64
        var used: Int64
        var isStored: Bool
        var isChanged = false
    }

    private let slots: Int
    private var recent: RecentRateCounters
    private var spilled: (until: Int64, own: Int64?) = (.min, nil)
    /// The mode of the group, and its number of keys, which must fit in memory.
    private var mode = (readsTable: false, writesTable: false)
    private var keyCount = 0
    private var asked: Set<RateCounterKey> = []
    private var stored: [RateCounterKey: StoredCounter] = [:]
    /// The longest window of the events so far, in milliseconds.
    package private(set) var longestWindow: Int64 = 0

    package init(slots: Int = RecentRateCounters.defaultSlots) {
        self.slots = slots
        recent = RecentRateCounters(mostSlots: slots)
    }

    package var memory: (count: Int, bytes: Int) { (recent.count, recent.bytes) }

    package static func isShort(_ window: Int64) -> Bool { window <= RecentRateCounters.longestWindow }

    // MARK: The log

    /// Forgets all counters in memory, because the log is read again.
    package func reset() {
        recent = RecentRateCounters(mostSlots: slots)
        spilled = (.min, nil)
    }

    package func readLog(until: Int64, isSpilled: Bool, _ entries: UnsafeRawBufferPointer) {
        if isSpilled { spilled.until = max(spilled.until, until) }
        Self.unpack(entries) { recent.store($0, $1) }
    }

    package var logRow: (until: Int64, isSpilled: Bool, entries: [UInt8])? {
        let changed = recent.changed
        guard !changed.isEmpty || spilled.own != nil else { return nil }
        return (changed.reduce(spilled.own ?? .min) { max($0, $1.counter.until) }, spilled.own != nil, Self.pack(changed))
    }

    private static let stride = RateCounterKey.length + 12

    private static func pack(_ entries: [(key: RateCounterKey, counter: RecentRateCounters.RateCounter)]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: entries.count * stride) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            for (key, counter) in entries {
                key.withBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[count...]).copyMemory(from: $0) }
                bytes.storeBytes(of: counter.until.bigEndian, toByteOffset: count + RateCounterKey.length, as: Int64.self)
                bytes.storeBytes(of: counter.used.bigEndian, toByteOffset: count + RateCounterKey.length + 8, as: UInt32.self)
                count += stride
            }
        }
    }

    private static func unpack(_ bytes: UnsafeRawBufferPointer, _ entry: (RateCounterKey, RecentRateCounters.RateCounter) -> Void) {
        var start = 0
        while bytes.count - start >= stride {
            defer { start += stride }
            let rest = start + RateCounterKey.length
            guard let key = RateCounterKey(UnsafeRawBufferPointer(rebasing: bytes[start..<rest])) else { return }
            let until = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: rest, as: Int64.self))
            let used = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: rest + 8, as: UInt32.self))
            entry(key, RecentRateCounters.RateCounter(until: until, used: used))
        }
    }

    package static func load<Session: SQLSession>(_ session: Session) throws -> Bool {
        var counters: [RateCounterKey: RecentRateCounters.RateCounter] = [:]
        let rows = try session.rows("DELETE FROM recent_allowance RETURNING id, entries") { ($0.integer(0), $0.bytes(1)) }
        for (_, entries) in rows.sorted(by: { $0.0 < $1.0 }) { entries.withUnsafeBytes { unpack($0) { counters[$0] = $1 } } }
        let sorted = counters.sorted { $0.key < $1.key }
        try session.write(
            """
            INSERT INTO allowance (key, until, used) \(Session.dialect.values(3))
            ON CONFLICT (key) DO UPDATE SET until = excluded.until, used = excluded.used
            """, .blobs(sorted.map(\.key.bytes)), .integers(sorted.map(\.value.until)), .integers(sorted.map { Int64($0.value.used) }))
        return !rows.isEmpty
    }

    // MARK: One transaction

    package func begin(at moment: Int64, keys: Int) {
        recent.tidy(for: keys) {
            $0 <= LedgerTime.earliestEnd(at: moment) || $0 > LedgerTime.latestValidEnd(at: moment, window: RecentRateCounters.longestWindow)
        }
        forget()
        keyCount = keys
        mode = mode(at: moment)
    }

    private func mode(at moment: Int64) -> (readsTable: Bool, writesTable: Bool) {
        let isFull = recent.isFull(with: keyCount)
        return (isFull || spilled.until > LedgerTime.earliestEnd(at: moment), isFull)
    }

    /// Returns true if the log has put short windows elsewhere since ``begin(at:keys:)``, so that the group must be repeated.
    package func isOutdated(at moment: Int64) -> Bool { mode(at: moment) != mode }

    package func ask(for event: LedgerEvent, _ keys: RateCounterKeys) {
        keys.forEach(event) { key, window in
            longestWindow = max(longestWindow, window)
            if mode.readsTable || !Self.isShort(window) { asked.insert(key) }
        }
    }

    package func questions(_ dialect: SQLDialect) -> [SQLCommand] {
        guard !asked.isEmpty else { return [] }
        return [
            SQLCommand(
                dialect.isPostgreSQL ? Self.postgresQuestion : "SELECT key, until, used FROM allowance WHERE key = ?1",
                [.blobs(asked.sorted().map(\.bytes))])
        ]
    }

    private static let postgresQuestion = "SELECT key, until, used FROM allowance WHERE key = ANY (?1) ORDER BY key FOR UPDATE"

    package func apply(_ row: some SQLRow) {
        guard let key = RateCounterKey(row.view(0)) else { return }
        stored[key] = StoredCounter(until: row.integer(1), used: row.integer(2), isStored: true)
    }

    /// A new key that another process has written in the meantime is a conflict, so the group is repeated.
    package func commands(_ dialect: SQLDialect) -> [SQLCommand] {
        let changed = stored.filter(\.value.isChanged).sorted { $0.key < $1.key }
        guard !changed.isEmpty else { return [] }
        let update =
            dialect.isPostgreSQL
            ? "UPDATE allowance SET until = new.until, used = new.used FROM unnest(?1, ?2, ?3) AS new (key, until, used) WHERE allowance.key = new.key"
            : "UPDATE allowance SET until = ?2, used = ?3 WHERE key = ?1"
        let insert = "INSERT INTO allowance (key, until, used) \(dialect.values(3))"
        return [(update, changed.filter(\.value.isStored)), (insert, changed.filter { !$0.value.isStored })].compactMap { text, rows in
            guard !rows.isEmpty else { return nil }
            return SQLCommand(
                text, [.blobs(rows.map(\.key.bytes)), .integers(rows.map(\.value.until)), .integers(rows.map(\.value.used))])
        }
    }

    package func hasCommitted() {
        recent.hasCommitted()
        if let own = spilled.own { spilled = (max(spilled.until, own), nil) }
        forget()
    }

    package func discard() {
        recent.discard()
        spilled.own = nil
        forget()
    }

    private func forget() {
        asked.removeAll(keepingCapacity: true)
        stored.removeAll(keepingCapacity: true)
    }

    // MARK: Decisions

    func verdict(on event: LedgerEvent, _ keys: RateCounterKeys, committedAt now: Int64) -> Verdict {
        let moment = EventMoment(of: event, committedAt: now)
        let verdict = verdict(on: event, keys, at: moment)
        guard verdict == .counted else { return verdict }
        if let duplicates = event.deduplication {
            for key in keys.recorded { use(key, at: moment, duplicates.window, restarts: true) }
        }
        for (rate, key) in zip(event.rates, keys.rates) { use(key, at: moment, rate.window, restarts: false) }
        return verdict
    }

    private func verdict(on event: LedgerEvent, _ keys: RateCounterKeys, at moment: EventMoment) -> Verdict {
        if let duplicates = event.deduplication, keys.repeats.contains(where: { used($0, at: moment, duplicates.window) > 0 }) {
            return .duplicate
        }
        guard keys.allRequired(by: event, { keys, window in keys.contains { used($0, at: moment, window) > 0 } }) else { return .unseen }
        for (rate, key) in zip(event.rates, keys.rates) where used(key, at: moment, rate.window) >= rate.limit { return rate.verdict }
        return .counted
    }

    private enum Location {
        case memory, table
    }

    private func location(of key: RateCounterKey, at moment: EventMoment, _ window: Int64) -> Location {
        guard Self.isShort(window) else { return .table }
        if let counter = recent.counter(key), moment.isWithin(counter.until, window: window) { return .memory }
        if let counter = stored[key], moment.isWithin(counter.until, window: window) { return .table }
        return mode.writesTable ? .table : .memory
    }

    private func used(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64) -> Int64 {
        counter(key, at: moment, window).used
    }

    private func counter(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64) -> (location: Location, until: Int64, used: Int64)
    {
        let location = location(of: key, at: moment, window)
        let (until, used): (Int64, Int64) =
            switch location {
            case .memory: recent.counter(key).map { ($0.until, Int64($0.used)) } ?? (.min, 0)
            case .table: stored[key].map { ($0.until, $0.used) } ?? (.min, 0)
            }
        return (location, until, moment.isWithin(until, window: window) ? used : 0)
    }

    private func use(_ key: RateCounterKey, at moment: EventMoment, _ window: Int64, restarts: Bool) {
        let (end, isEndless) = moment.event.addingReportingOverflow(window)
        var (location, until, used) = counter(key, at: moment, window)
        if restarts || used == 0 { (until, used) = (isEndless ? .max : end, 0) }
        switch location {
        case .memory: recent.set(key, RecentRateCounters.RateCounter(until: until, used: UInt32(clamping: used &+ 1)))
        case .table:
            stored[key] = StoredCounter(until: until, used: used &+ 1, isStored: stored[key]?.isStored ?? false, isChanged: true)
            // Look-ups of short windows include the table until then.
            if Self.isShort(window), until > spilled.until { spilled.own = max(spilled.own ?? .min, until) }
        }
    }
}

extension RateCounterKeys {
    package func forEach(_ event: LedgerEvent, _ body: (RateCounterKey, _ window: Int64) -> Void) {
        let window = event.deduplication?.window ?? 0
        for key in repeats where !recorded.contains(key) { body(key, window) }
        _ = allRequired(by: event) { keys, window in
            for key in keys { body(key, window) }
            return true
        }
        for key in recorded { body(key, window) }
        for (rate, key) in zip(event.rates, rates) { body(key, rate.window) }
    }
}
