import GRDB
internal import IntertwineFeed

struct LedgerExpiryPurger {
    private static let leastBatch = 1_000
    private static let lookupsPerRow = 2
    private var sweptAllowances: [UInt8] = []
    var schedule = PurgeSchedule(limit: Self.leastBatch / Self.lookupsPerRow)

    /// true if rows were removed, so that more may remain.
    mutating func sweep(_ database: Database, now: Int64, longestWindow: Int64) throws -> Bool {
        let batch = max(Self.leastBatch, schedule.rowsSince * Self.lookupsPerRow)
        schedule.begin(at: now)
        var removed = try sweepAllowances(
            database, now: now, latest: LedgerTime.latestValidEnd(at: now, longestMet: longestWindow), batch: batch)
        removed += try RateCounterLog.sweep(
            database, now: LedgerTime.earliestEnd(at: now),
            latest: LedgerTime.latestValidEnd(at: now, window: RecentRateCounters.longestWindow), batch: batch)
        let statements = ExpiryPurge.statements(now: now, batch: batch, .sqlite)
        removed += try SQLiteSession(connection: database).run(statements) { _, _ in }.reduce(0, +)
        return removed > 0
    }

    /// Why: an index on the end time would cost each click more than this periodic examination of all counters.
    private mutating func sweepAllowances(_ database: Database, now: Int64, latest: Int64, batch: Int) throws -> Int {
        let find = try SQLStatement(database, "SELECT key FROM allowance WHERE key > ?1 ORDER BY key LIMIT 1 OFFSET ?2")
        try find.bind(1, blob: sweptAllowances)
        try find.bind(2, Int64(batch - 1))
        let end = try find.step() ? find.bytes(0) : nil
        find.reset()
        let remove = try SQLStatement(database, "DELETE FROM allowance WHERE key > ?1 AND key <= ?2 AND (until <= ?3 OR until > ?4)")
        try remove.bind(1, blob: sweptAllowances)
        // The upper bound is longer than a key, so it is greater than all keys.
        try remove.bind(2, blob: end ?? Array(repeating: .max, count: RateCounterKey.length + 1))
        try remove.bind(3, now)
        try remove.bind(4, latest)
        try remove.run()
        sweptAllowances = end ?? []
        return database.changesCount
    }
}
