import GRDB

/// Removes what nothing asks for any more, a little at a time.
struct LedgerSweeper {
    /// Rows of one table removed at once.
    private static let batch = 1_000
    /// Milliseconds between two sweeps.
    private static let interval: Int64 = 1_000
    /// For how long a selection that cannot be undone any more is remembered, so that the answer is "too late" and not "unknown". 30 days.
    private static let memory: Int64 = 30 * 86_400_000

    private var last: Int64 = 0
    private var unitsSince = 0

    func isDue(_ now: Int64) -> Bool {
        now &- last >= Self.interval || now < last
    }

    /// Whether so much was written that the rows removed at once would not keep pace.
    mutating func isLate(after units: Int) -> Bool {
        unitsSince &+= units
        guard unitsSince >= Self.batch / 4 else { return false }
        unitsSince = 0
        last = 0
        return true
    }

    /// Whether there may be more.
    mutating func sweep(_ database: Database, now: Int64) throws -> Bool {
        last = now
        var removed = 0
        for sql in [
            "DELETE FROM allowance WHERE key IN (SELECT key FROM allowance WHERE until <= ?1 ORDER BY until LIMIT ?2)",
            // What put a cell on a list once more, and can be taken back no more, where that holds of the first one too.
            """
            DELETE FROM listing WHERE mark IN (
                SELECT mark FROM listing AS twin INDEXED BY listing_twin WHERE leads = 0 AND until <= ?1 AND (
                    SELECT until FROM listing AS first INDEXED BY listing_cell
                    WHERE first.viewer = twin.viewer AND first.list = twin.list AND first.cell = twin.cell ORDER BY mark LIMIT 1) <= ?1
                ORDER BY until LIMIT ?2)
            """,
            "DELETE FROM idempotency WHERE (scope, key) IN (SELECT scope, key FROM idempotency WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
        ] {
            try database.cachedStatement(sql: sql).execute(arguments: [now, Self.batch])
            removed += database.changesCount
        }
        try database.cachedStatement(
            sql: "DELETE FROM selection WHERE id IN (SELECT id FROM selection WHERE expires <= ?1 ORDER BY expires LIMIT ?2)"
        ).execute(arguments: [now &- Self.memory, Self.batch])
        return removed + database.changesCount >= Self.batch
    }
}
