import GRDB

/// Removes what nothing asks for any more, a little at a time.
struct LedgerSweeper {
    /// Rows of one table looked at, or removed, at once; more where many events were written.
    private static let leastBatch = 1_000
    /// Few events leave more than two allowances behind, and each of those is looked at twice before one like it is written.
    private static let rowsPerEvent = 4
    /// Milliseconds between two sweeps.
    private static let interval: Int64 = 1_000
    /// For how long a selection that cannot be undone any more is remembered, so that the answer is "too late" and not "unknown". 30 days.
    private static let memory: Int64 = 30 * 86_400_000

    /// The allowances up to this key have been looked at; then it is the others' turn, and then theirs again.
    private var sweptAllowances = ""
    private var last: Int64 = 0
    private var eventsSince = 0

    func isDue(_ now: Int64) -> Bool {
        now &- last >= Self.interval || now < last
    }

    /// Whether so much was written that it cannot wait for the interval to be over.
    mutating func isLate(after events: Int) -> Bool {
        eventsSince += events
        guard eventsSince >= Self.leastBatch / Self.rowsPerEvent else { return false }
        last = 0
        return true
    }

    /// Whether something was removed: there may be more.
    mutating func sweep(_ database: Database, now: Int64) throws -> Bool {
        last = now
        let batch = max(Self.leastBatch, eventsSince * Self.rowsPerEvent)
        eventsSince = 0
        var removed = try sweepAllowances(database, now: now, batch: batch)
        for sql in [
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
            try database.cachedStatement(sql: sql).execute(arguments: [now, batch])
            removed += database.changesCount
        }
        try database.cachedStatement(
            sql: "DELETE FROM selection WHERE id IN (SELECT id FROM selection WHERE expires <= ?1 ORDER BY expires LIMIT ?2)"
        ).execute(arguments: [now &- Self.memory, batch])
        return removed + database.changesCount > 0
    }

    /// Looks at a batch of allowances, in the order of their keys. There is no index on their time: to keep one costs each click more than
    /// that each allowance is looked at now and then.
    private mutating func sweepAllowances(_ database: Database, now: Int64, batch: Int) throws -> Int {
        let find = try SQLStatement(database, "SELECT key FROM allowance WHERE key > ?1 ORDER BY key LIMIT 1 OFFSET ?2")
        find.bind(1, sweptAllowances)
        find.bind(2, Int64(batch - 1))
        let end = try find.step() ? find.text(0) : nil
        find.reset()
        let remove = try SQLStatement(database, "DELETE FROM allowance WHERE key > ?1 AND key <= ?2 AND until <= ?3")
        remove.bind(1, sweptAllowances)
        // Bytes are behind all texts.
        if let end { remove.bind(2, end) } else { remove.bind(2, blob: []) }
        remove.bind(3, now)
        try remove.run()
        sweptAllowances = end ?? ""
        return database.changesCount
    }
}
