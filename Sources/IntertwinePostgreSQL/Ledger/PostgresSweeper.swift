internal import IntertwineStorage

/// Removes what nothing asks for any more, a little at a time.
///
/// Every replica sweeps in the measure of what it writes, but no two at once: what is locked by others is left to the next round.
struct PostgresSweeper {
    /// Rows of one table looked at, or removed, at once; more where many events were written.
    private static let leastBatch = 1_000
    /// Few events leave more than two allowances behind, and each of those is looked at twice before one like it is written.
    private static let rowsPerEvent = 4
    /// Milliseconds between two sweeps.
    private static let interval: Int64 = 1_000
    /// For how long a selection that cannot be undone any more is remembered, so that the answer is "too late" and not "unknown". 30 days.
    private static let memory: Int64 = 30 * 86_400_000

    /// The allowances up to this key have been looked at; then it is the others' turn, and then theirs again.
    private var sweptAllowances: [UInt8] = []
    private var last: Int64 = 0
    private var eventsSince = 0

    func isDue(_ now: Int64) -> Bool { now &- last >= Self.interval || now < last }

    /// Whether so much was written that it cannot wait for the interval to be over.
    mutating func isLate(after events: Int) -> Bool {
        eventsSince += events
        guard eventsSince >= Self.leastBatch / Self.rowsPerEvent else { return false }
        last = 0
        return true
    }

    /// Each is given what has expired and the batch, and finds rows that nobody has locked.
    private static let removals = [
        // What was taken off a list for good, up to there.
        """
        DELETE FROM listing WHERE mark IN (
            SELECT old.mark FROM (
                SELECT viewer, list, cell, mark FROM listing WHERE removes AND until <= $1 ORDER BY until LIMIT $2
            ) AS removal JOIN listing AS old
            ON old.viewer = removal.viewer AND old.list = removal.list AND old.cell = removal.cell AND old.mark <= removal.mark
            FOR UPDATE OF old SKIP LOCKED)
        """,
        // What put a cell on a list once more, and can be taken back no more, where that holds of the first one too and nothing between the
        // two took it off.
        """
        DELETE FROM listing WHERE mark IN (
            SELECT mark FROM listing AS twin WHERE NOT leads AND NOT removes AND until <= $1 AND (
                SELECT NOT removes AND until <= $1 FROM listing AS first
                WHERE first.viewer = twin.viewer AND first.list = twin.list AND first.cell = twin.cell AND first.mark < twin.mark
                ORDER BY mark DESC LIMIT 1)
            ORDER BY until LIMIT $2 FOR UPDATE OF twin SKIP LOCKED)
        """,
        """
        DELETE FROM exposure WHERE (viewer, campaign, at) IN (
            SELECT viewer, campaign, at FROM exposure WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED)
        """,
        """
        DELETE FROM idempotency WHERE (scope, key) IN (
            SELECT scope, key FROM idempotency WHERE expires <= $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED)
        """,
    ]

    private static let selections = """
        DELETE FROM selection WHERE id IN (
            SELECT id FROM selection WHERE expires <= $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED)
        """

    private static let allowances = """
        DELETE FROM allowance WHERE key IN (
            SELECT key FROM allowance WHERE key > $1 AND ($2::bytea IS NULL OR key <= $2) AND (until <= $3 OR until > $4)
            FOR UPDATE SKIP LOCKED)
        """

    /// Whether something was removed: there may be more.
    ///
    /// - Parameter longestWindow: what ends later than one that begins now was written by a clock that was ahead. 0 where it is not known.
    mutating func sweep(_ connection: PostgresConnection, now: Int64, longestWindow: Int64) throws -> Bool {
        last = now
        let batch = Int64(max(Self.leastBatch, eventsSince * Self.rowsPerEvent))
        let begun = try connection.run([
            // What is lost with the power is removed once more.
            PostgresCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), PostgresCommand("SET LOCAL synchronous_commit = off"),
            PostgresCommand(
                "SELECT pg_try_advisory_xact_lock($1::int, $2::int)",
                [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.sweeping)]),
            PostgresCommand(
                "SELECT key FROM allowance WHERE key > $1 ORDER BY key LIMIT 1 OFFSET $2", [.bytes(sweptAllowances), .integer(batch - 1)]),
        ])
        guard begun[2].flag(0, 0) else {
            try connection.post([PostgresCommand("ROLLBACK")])
            return false
        }
        let end = begun[3].isEmpty ? nil : begun[3].bytes(0, 0)
        let latest = longestWindow > 0 ? LedgerTime.latestEnd(at: now, window: longestWindow) : .max
        var commands = [
            PostgresCommand(Self.allowances, [.bytes(sweptAllowances), .bytes(end), .integer(now), .integer(latest)])
        ]
        commands += Self.removals.map { PostgresCommand($0, [.integer(now), .integer(batch)]) }
        commands += [PostgresCommand(Self.selections, [.integer(now &- Self.memory), .integer(batch)]), PostgresCommand("COMMIT")]
        let removed = try connection.run(commands).dropLast().reduce(0) { $0 + $1.affected }
        eventsSince = 0
        sweptAllowances = end ?? []
        return removed > 0
    }
}
