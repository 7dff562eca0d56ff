internal import IntertwineFeed
internal import IntertwineStorageCore

struct PostgresExpiryPurger {
    private static let leastBatch = 2_000
    private static let rowsPerEvent = 4
    private var page: Int64 = 0
    private static let rowsPerPage: Int64 = 40
    private static let leastPages: Int64 = 64
    var schedule = PurgeSchedule(limit: Self.leastBatch / Self.rowsPerEvent)

    /// Purges a range of pages. Why: the time has no index, and a full scan takes too long. A scan in page order costs a tenth of one in
    /// key order, and rows that were written together expire together.
    private static let counters = """
        WITH removed AS (
            DELETE FROM allowance WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM allowance
                WHERE ctid >= ('(' || $1::bigint || ',0)')::tid AND ctid < ('(' || $2::bigint || ',0)')::tid
                AND (until <= \(ExpiryPurge.end("$3::bigint", .postgres)) OR until > $4) FOR UPDATE SKIP LOCKED))
            RETURNING 1)
        SELECT (SELECT count(*) FROM removed), pg_relation_size('allowance') / current_setting('block_size')::bigint
        """

    private static let log = """
        DELETE FROM recent_allowance WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM recent_allowance WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED))
        """

    mutating func sweep(_ connection: PostgresConnection, now: Int64, longestWindow: Int64) throws -> Bool {
        let batch = max(Self.leastBatch, schedule.rowsSince * Self.rowsPerEvent)
        schedule.begin(at: now)
        let end = page + max(Self.leastPages, (Int64(batch) + Self.rowsPerPage - 1) / Self.rowsPerPage)
        let (earliest, latest) = (LedgerTime.earliestEnd(at: now), LedgerTime.latestValidEnd(at: now, longestMet: longestWindow))
        let commands =
            [
                // A power failure may revert removals; a later sweep repeats them.
                SQLCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), SQLCommand("SET LOCAL synchronous_commit = off"),
                SQLCommand(Self.counters, [.integer(page), .integer(end), .integer(earliest), .integer(latest)]),
                SQLCommand(Self.log, [.integer(earliest), .integer(Int64(batch))]),
            ] + ExpiryPurge.statements(now: now, batch: batch, .postgres) + [SQLCommand("COMMIT")]
        let answers = try connection.run(commands)
        let swept = answers[2]
        page = end < swept.integer(0, 1) ? end : 0
        return swept.integer(0, 0) > 0 || answers.dropFirst(3).contains { $0.affected > 0 }
    }
}
