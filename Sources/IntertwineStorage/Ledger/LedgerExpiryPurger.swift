import GRDB
import IntertwineFeed

/// A purger that removes expired rows of the ledger in small batches.
struct LedgerExpiryPurger {
    /// The smallest number of rows of one table that are examined or removed at once. The number grows with the rows written.
    private static let leastBatch = 1_000
    /// The number of rows that are examined for each row written.
    private static let lookupsPerRow = 2
    /// Milliseconds between two sweeps.
    private static let interval: Int64 = 1_000
    /// The time in milliseconds (30 days) for which an expired selection is retained.
    ///
    /// Why: an undo request then receives the response "too late" instead of "unknown".
    private static let retention: Int64 = 30 * 86_400_000

    /// The key up to which rate counters were examined. The sweep continues after it, and restarts after the last key.
    private var sweptAllowances: [UInt8] = []
    private var last: Int64 = 0
    private var rowsSince = 0

    func isDue(_ now: Int64) -> Bool {
        now &- last >= Self.interval || now < last
    }

    /// Returns true if too many rows were written to wait for the end of the interval.
    ///
    /// - Parameter rows: the number of rows with an expiry time that were written.
    mutating func isLate(after rows: Int) -> Bool {
        rowsSince += rows
        guard rowsSince >= Self.leastBatch / Self.lookupsPerRow else { return false }
        last = 0
        return true
    }

    /// Removes a batch of expired rows of each table.
    ///
    /// - Parameter longestWindow: the longest window of all events since the start.
    /// - Returns: true if rows were removed, so that more may remain.
    mutating func sweep(_ database: Database, now: Int64, longestWindow: Int64) throws -> Bool {
        last = now
        let batch = max(Self.leastBatch, rowsSince * Self.lookupsPerRow)
        rowsSince = 0
        var removed = try sweepAllowances(
            database, now: now, latest: LedgerTime.latestEnd(at: now, longestMet: longestWindow), batch: batch)
        removed += try RateCounterLog.sweep(
            database, now: LedgerTime.earliestEnd(at: now),
            latest: LedgerTime.latestEnd(at: now, window: RecentRateCounters.longestWindow), batch: batch)
        for sql in [
            // Deletes the rows of a cell up to a removal from a list that cannot be undone.
            """
            DELETE FROM listing WHERE mark IN (
                SELECT old.mark FROM (
                    SELECT viewer, list, cell, mark FROM listing INDEXED BY listing_removal
                    WHERE removes = 1 AND until <= ?1 ORDER BY until LIMIT ?2) AS removal
                CROSS JOIN listing AS old INDEXED BY listing_cell
                ON old.viewer = removal.viewer AND old.list = removal.list AND old.cell = removal.cell AND old.mark <= removal.mark)
            """,
            // Deletes repeated additions of a cell that cannot be undone, if the previous row of the cell is also an addition that cannot be undone.
            """
            DELETE FROM listing WHERE mark IN (
                SELECT mark FROM listing AS twin INDEXED BY listing_twin WHERE leads = 0 AND removes = 0 AND until <= ?1 AND (
                    SELECT removes = 0 AND until <= ?1 FROM listing AS first INDEXED BY listing_cell
                    WHERE first.viewer = twin.viewer AND first.list = twin.list AND first.cell = twin.cell AND first.mark < twin.mark
                    ORDER BY mark DESC LIMIT 1)
                ORDER BY until LIMIT ?2)
            """,
            """
            DELETE FROM exposure WHERE (viewer, campaign, at) IN (
                SELECT viewer, campaign, at FROM exposure WHERE until <= ?1 ORDER BY until LIMIT ?2)
            """,
            "DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
        ] {
            removed += try Self.remove(sql, database, until: now, batch: batch)
        }
        removed += try Self.remove(
            "DELETE FROM selection WHERE id IN (SELECT id FROM selection WHERE expires <= ?1 ORDER BY expires LIMIT ?2)", database,
            until: now &- Self.retention, batch: batch)
        return removed > 0
    }

    private static func remove(_ sql: String, _ database: Database, until moment: Int64, batch: Int) throws -> Int {
        let statement = try SQLStatement(database, sql)
        try statement.bind(1, moment)
        try statement.bind(2, Int64(batch))
        try statement.run()
        return database.changesCount
    }

    /// Examines a batch of rate counters in key order.
    ///
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
