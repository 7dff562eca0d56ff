import GRDB
internal import IntertwineFeed

struct LedgerExpiryPurger {
    private static let leastBatch = 1_000
    private static let lookupsPerRow = 2
    private var sweptCounters: [UInt8] = []
    var schedule = PurgeSchedule(limit: Self.leastBatch / Self.lookupsPerRow)

    /// true if rows were removed, so that more may remain.
    mutating func sweep(_ database: Database, now: Int64, longestWindow: Int64) throws -> Bool {
        let batch = max(Self.leastBatch, schedule.rowsSince * Self.lookupsPerRow)
        schedule.begin(at: now)
        let session = database.session
        let latest = LedgerTime.latestValidEnd(at: now, longestMet: longestWindow)
        var removed = try sweepCounters(session, now: now, latest: latest, batch: batch)
        // The rows of the log end in about the order in which they were written.
        removed += try session.write(
            """
            DELETE FROM recent_allowance WHERE id IN (
                SELECT id FROM (SELECT id, until FROM recent_allowance ORDER BY id LIMIT ?3) WHERE until <= ?1 OR until > ?2)
            """, .integer(LedgerTime.earliestEnd(at: now)),
            .integer(LedgerTime.latestValidEnd(at: now, window: RecentRateCounters.longestWindow)), .integer(Int64(batch)))
        removed += try session.run(ExpiryPurge.statements(now: now, batch: batch, .sqlite)) { _, _ in }.reduce(0, +)
        return removed > 0
    }

    /// Why: an index on the end time would cost each click more than this periodic examination of all counters.
    private mutating func sweepCounters(_ session: SQLiteSession, now: Int64, latest: Int64, batch: Int) throws -> Int {
        let end = try session.first(
            "SELECT key FROM allowance WHERE key > ?1 ORDER BY key LIMIT 1 OFFSET ?2", .bytes(sweptCounters), .integer(Int64(batch - 1))
        ) { $0.bytes(0) }
        defer { sweptCounters = end ?? [] }
        // Without an end, the upper bound is longer than a key, so it is greater than all keys.
        return try session.write(
            "DELETE FROM allowance WHERE key > ?1 AND key <= ?2 AND (until <= \(ExpiryPurge.end("?3", .sqlite)) OR until > ?4)",
            .bytes(sweptCounters),
            .bytes(end ?? Array(repeating: .max, count: RateCounterKey.length + 1)), .integer(now), .integer(latest))
    }
}
