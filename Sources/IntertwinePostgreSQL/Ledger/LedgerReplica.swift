internal import IntertwineFeed
internal import IntertwineStorage

/// What one replica writes, and by what it finds out afterwards what it has written. Confined to the ledger's queue.
final class LedgerReplica {
    /// The connection was lost while a group was being committed: it stands in the database, or it does not.
    struct LostCommit: Error {
        let number: Int64
        let receipts: [Result<LedgerReceipt, any Error>]
        let cause: PostgresError
    }

    private let process = Int64.random(in: 0...Int64.max)
    /// Of no other replica that is there: counts go to rows of its own. Two of one slot would wait for each other, and count right.
    private var slot: Int64 = 0
    private var number: Int64 = 0
    private var rollups = PartialRollups()
    private var uncounted = UncountedRows()
    private var days = EventDays()
    private var recent = RecentKeys()
    /// The longest window of the events so far, in milliseconds.
    private(set) var longestWindow: Int64 = 0

    /// Whether counts wait to be written.
    var hasWaitingCounts: Bool { !rollups.isEmpty }

    /// Makes a new connection the replica's.
    ///
    /// - Parameter patience: how long a statement waits for a lock, in milliseconds.
    func begin(_ connection: PostgresConnection, patience: Int64) throws {
        // Everything is found by its key: a table that has grown since it was looked at must not be read as a whole.
        try connection.execute(
            """
            SET lock_timeout = \(max(1, patience)); SET idle_in_transaction_session_timeout = '5s'; SET enable_seqscan = off; SET jit = off
            """)
        slot = try connection.transaction {
            try connection.query(
                "SELECT pg_advisory_xact_lock($1::int, $2::int)", .integer(PostgresLedgerSchema.lockClass),
                .integer(PostgresLedgerSchema.Lock.slots))
            try connection.query("DELETE FROM ledger_writer WHERE seen < clock_timestamp() - interval '1 day'")
            return try connection.query(
                """
                INSERT INTO ledger_writer (process, slot, last)
                SELECT $1, coalesce(min(slot), 0), 0 FROM generate_series(0, 1023) AS slot
                WHERE slot NOT IN (SELECT slot FROM ledger_writer WHERE seen > clock_timestamp() - interval '1 minute')
                ON CONFLICT (process) DO UPDATE SET seen = clock_timestamp() RETURNING slot
                """, .integer(process)
            ).integer(0, 0)
        }
    }

    /// Writes something small that has to go to the server's disk like a click, and makes the table that a click would need now.
    func touch(_ connection: PostgresConnection, now: Int64) throws {
        let day = LedgerTime.day(of: now)
        try days.make([day], today: day, connection)
        let start = SQLiteLedger.systemTime()
        // Not which group was the last: what became of that may still have to be found out.
        let rows = try connection.query(
            """
            INSERT INTO ledger_writer (process, slot, last) VALUES ($1, $2, 0)
            ON CONFLICT (process) DO UPDATE SET seen = clock_timestamp() RETURNING \(ServerClock.expression)
            """, .integer(process), .integer(slot))
        try ServerClock.check(rows.integer(0, 0), askedAt: start)
    }

    private func mark(_ number: Int64) -> PostgresCommand {
        PostgresCommand(
            """
            INSERT INTO ledger_writer AS kept (process, slot, last) VALUES ($1, $2, $3)
            ON CONFLICT (process) DO UPDATE SET last = excluded.last, seen = clock_timestamp() RETURNING \(ServerClock.expression)
            """, [.integer(process), .integer(slot), .integer(number)])
    }

    /// Writes a group: all of what can be written or, throwing, nothing.
    ///
    /// - Parameter flushes: whether counts that wait are to be written in any case.
    /// - Throws: ``PostgresError``, or `StoreError` where this machine's clock is wrong, and nothing was written; ``LostCommit``.
    func commit(
        _ entries: [LedgerEntry], now: Int64, flushes: Bool, _ connection: PostgresConnection
    ) throws -> [Result<LedgerReceipt, any Error>] {
        var group = LedgerGroup(entries, now: now, recent: recent.isGuessing ? recent : nil)
        longestWindow = max(longestWindow, group.longestWindow)
        try days.make(group.days, today: LedgerTime.day(of: now), connection)
        number += 1
        var (receipts, uncounted) = try decide(&group, connection)
        if group.isUnsure {
            recent.hasEnded(.wrong)
            try connection.post([PostgresCommand("ROLLBACK")])
            rollups.discard()
            group = LedgerGroup(entries, now: now, recent: nil)
            (receipts, uncounted) = try decide(&group, connection)
        }
        var commands = group.commands
        guard flushes && !rollups.isEmpty || !commands.isEmpty else {
            // Nothing but counts, which wait for the next group or the next flush. Nobody waits for the end of that.
            try connection.post([PostgresCommand("ROLLBACK")])
            rollups.postpone()
            self.uncounted = uncounted
            return receipts
        }
        commands += rollups.commands(slot: slot) + [PostgresCommand("COMMIT")]
        do throws(PostgresError) {
            _ = try connection.run(commands)
        } catch {
            if group.guesses, error.code == "23505" { recent.hasEnded(.wrong) }
            guard error.isEndOfSession else { throw error }
            throw LostCommit(number: number, receipts: receipts, cause: error)
        }
        finish()
        recent.hasEnded(group.guesses ? .right : .none)
        for key in group.keptKeys { recent.note(key) }
        self.uncounted = uncounted
        return receipts
    }

    /// The first round trip of a group, and what becomes of its units.
    private func decide(
        _ group: inout LedgerGroup, _ connection: PostgresConnection
    ) throws -> ([Result<LedgerReceipt, any Error>], UncountedRows) {
        // The row is locked first, and so for as long as the transaction may still be committed: see `hasCommitted`.
        let start = SQLiteLedger.systemTime()
        let answers = try connection.run([PostgresCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), mark(number)] + group.questions)
        do throws(StoreError) {
            try ServerClock.check(answers[1].integer(0, 0), askedAt: start)
        } catch {
            try connection.post([PostgresCommand("ROLLBACK")])
            throw error
        }
        group.take(answers)
        var uncounted = uncounted
        return (group.decide(&rollups, &uncounted), uncounted)
    }

    /// Whether a group whose connection was lost has been committed.
    ///
    /// The row is waited for as long as the lost session may still commit: the answer is final.
    func hasCommitted(_ lost: LostCommit, _ connection: PostgresConnection) throws -> Bool {
        let rows = try connection.query("SELECT last FROM ledger_writer WHERE process = $1 FOR UPDATE", .integer(process))
        let isCommitted = !rows.isEmpty && rows.integer(0, 0) == lost.number
        if isCommitted { finish() } else { discard() }
        return isCommitted
    }

    private func finish() { rollups.hasCommitted() }

    /// The group was rolled back.
    func discard() {
        rollups.discard()
        days.forget()
    }
}

extension PostgresError {
    /// The server ends the session, or has: what was under way may be committed or not.
    var isEndOfSession: Bool { isConnectionLost || code.isEmpty || code.hasPrefix("57P") || code.hasPrefix("08") }
}
