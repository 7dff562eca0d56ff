internal import IntertwineFeed
internal import IntertwineStorageCore

/// A purger that removes expired rows in small steps.
///
/// Every replica purges in proportion to its writes. Rows that other sessions have locked are left to the next round.
struct PostgresExpiryPurger {
    /// The minimum number of rows of a table that are checked or removed at once.
    private static let leastBatch = 2_000
    /// Most events write at most two rate counters. Each of them is checked twice before an equal number is written.
    private static let rowsPerEvent = 4
    /// Milliseconds between two sweeps.
    private static let interval: Int64 = 1_000
    /// The retention of selections after their undo window, 30 days. Why: the response is "too late", not "unknown".
    private static let retention: Int64 = 30 * 86_400_000

    /// The next page of rate counters to purge. After the last page, other tables are purged, then the first page.
    private var page: Int64 = 0
    /// A page holds about a hundred rate counters. Under load most pages have only dead rows that wait for a vacuum.
    private static let rowsPerPage: Int64 = 40
    /// The minimum number of pages at once. Pages without rows are cheap.
    private static let leastPages: Int64 = 64
    private var last: Int64 = 0
    private var eventsSince = 0

    func isDue(_ now: Int64) -> Bool { now &- last >= Self.interval || now < last }

    /// Returns true if so many events were written that the purge must not wait for its interval.
    mutating func isLate(after events: Int) -> Bool {
        eventsSince += events
        guard eventsSince >= Self.leastBatch / Self.rowsPerEvent else { return false }
        last = 0
        return true
    }

    /// The server's time at the start of the transaction; a parameter replaces it in tests.
    private static func time(_ parameter: String) -> String { "coalesce(\(parameter), (extract(epoch FROM now()) * 1000)::bigint)" }

    /// Returns the latest valid end. A later one was written by a clock that was ahead.
    private static func latest(_ longest: String, _ parameter: String) -> String {
        "(\(time(parameter)) + least(\(longest), 9223372036854775807 - greatest(0, \(time(parameter)))))"
    }

    /// Purges a range of pages. Why: the time has no index, and a full scan takes too long. A scan in page order costs a tenth of one in
    /// key order, and rows that were written together expire together.
    private static let allowances = """
        WITH removed AS (
            DELETE FROM allowance WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM allowance
                WHERE ctid >= ('(' || $1::bigint || ',0)')::tid AND ctid < ('(' || $2::bigint || ',0)')::tid
                AND (until <= \(time("$3")) - \(LedgerTime.disorder) OR until > \(latest("$4", "$3"))) FOR UPDATE SKIP LOCKED))
            RETURNING 1)
        SELECT (SELECT count(*) FROM removed), pg_relation_size('allowance') / current_setting('block_size')::bigint
        """

    /// The removal statements. Their parameters are the substitute time and the batch size; they skip locked rows.
    private static let removals = [
        // Deletes list removals that can no longer be undone, and the earlier rows of their cells.
        """
        DELETE FROM listing WHERE ctid = ANY (ARRAY(
            SELECT old.ctid FROM (
                SELECT viewer, list, cell, mark FROM listing WHERE removes AND until <= \(time("$1")) ORDER BY until LIMIT $2
            ) AS removal JOIN listing AS old
            ON old.viewer = removal.viewer AND old.list = removal.list AND old.cell = removal.cell AND old.mark <= removal.mark
            FOR UPDATE OF old SKIP LOCKED))
        """,
        // Deletes repeated additions of a cell to a list that can no longer be undone, if the row before is an addition that can no longer be
        // undone either.
        """
        DELETE FROM listing WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM listing AS twin WHERE NOT leads AND NOT removes AND until <= \(time("$1")) AND (
                SELECT NOT removes AND until <= \(time("$1")) FROM listing AS first
                WHERE first.viewer = twin.viewer AND first.list = twin.list AND first.cell = twin.cell AND first.mark < twin.mark
                ORDER BY mark DESC LIMIT 1)
            ORDER BY until LIMIT $2 FOR UPDATE OF twin SKIP LOCKED))
        """,
        """
        DELETE FROM recent_allowance WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM recent_allowance WHERE until <= \(time("$1")) - \(LedgerTime.disorder) ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED))
        """,
        """
        DELETE FROM exposure WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM exposure WHERE until <= \(time("$1")) ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED))
        """,
        """
        DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM idempotency WHERE expires <= \(time("$1")) ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED))
        """,
    ]

    private static let selections = """
        DELETE FROM selection WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM selection WHERE expires <= \(time("$1")) - \(retention) ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED))
        """

    /// Removes expired rows in one round trip. Returns true if rows were removed, as more may remain.
    ///
    /// - Parameters:
    ///   - clock: The clock that decides if a purge is due; the server decides which rows have expired.
    ///   - longestWindow: The longest window that this process has met since the start.
    mutating func sweep(_ connection: PostgresConnection, by clock: ServerClock, longestWindow: Int64) throws -> Bool {
        last = clock.now
        let now = clock.substitute?()
        let batch = Int64(max(Self.leastBatch, eventsSince * Self.rowsPerEvent))
        let end = page + max(Self.leastPages, (batch + Self.rowsPerPage - 1) / Self.rowsPerPage)
        let longest = LedgerTime.latestEnd(at: 0, longestMet: longestWindow)
        var commands = [
            // A power failure may revert removals; a later sweep repeats them.
            SQLCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), SQLCommand("SET LOCAL synchronous_commit = off"),
            SQLCommand(Self.allowances, [.integer(page), .integer(end), .integer(now), .integer(longest)]),
        ]
        commands += Self.removals.map { SQLCommand($0, [.integer(now), .integer(batch)]) }
        commands += [SQLCommand(Self.selections, [.integer(now), .integer(batch)]), SQLCommand("COMMIT")]
        let answers = try connection.run(commands)
        let swept = answers[2]
        eventsSince = 0
        page = end < swept.integer(0, 1) ? end : 0
        return swept.integer(0, 0) > 0 || answers.dropFirst(3).contains { $0.affected > 0 }
    }
}
