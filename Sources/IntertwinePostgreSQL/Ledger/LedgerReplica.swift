internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorageCore

final class LedgerReplica {
    /// An error: the connection was lost during the commit of a group, so the outcome is unknown.
    struct LostCommit: Error {
        let number: Int64
        let receipts: [Result<LedgerReceipt, any Error>]
        let cause: PostgresError
    }

    private let process = Int64.random(in: 0...Int64.max)
    /// Two replicas with one slot would wait for each other's locks; their counts would still be correct.
    private(set) var slot: Int64 = 0
    private var number: Int64 = 0
    private var rollups = Rollups()
    private var uncounted = PendingRollup()
    private var days = EventPartitions()
    private let counters: RateCounters
    private var log = RateCounterLog()
    private let clock: ServerClock
    /// True if the log must be read from its beginning, as after a failover the new server may lack entries that were read.
    private var isLogUnread = true
    private var probe = DiskProbe()
    /// The longest window of the events so far, in milliseconds.
    var longestWindow: Int64 { counters.longestWindow }

    init(recentSlots: Int = RecentRateCounters.defaultSlots, clock: ServerClock = ServerClock()) {
        self.clock = clock
        counters = RateCounters(slots: recentSlots)
    }

    var hasWaitingCounts: Bool { !rollups.isEmpty }

    var rateCounters: (count: Int, bytes: Int) { counters.memory }

    func begin(_ connection: PostgresConnection, timeout: Int64) throws {
        // Everything is found by its key: a table that has grown since it was looked at must not be read as a whole. A group that was cut off
        // between its two round trips has others wait for its locks.
        try connection.execute(
            """
            SET lock_timeout = \(max(1, timeout)); SET idle_in_transaction_session_timeout = '1s'; SET enable_seqscan = off; SET jit = off
            """)
        isLogUnread = true
        probe = DiskProbe()
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

    /// Performs a test write with the durability of a click, creates the table that a click would need now, and checks the disk space.
    func touch(_ connection: PostgresConnection) throws {
        try clock.ask(connection)
        let day = LedgerTime.day(of: clock.now)
        try days.make([day], today: day, connection)
        // Not which group was the last: what became of that may still have to be found out.
        try connection.query(
            """
            INSERT INTO ledger_writer (process, slot, last) VALUES ($1, $2, 0)
            ON CONFLICT (process) DO UPDATE SET seen = clock_timestamp()
            """, .integer(process), .integer(slot))
        try probe.run(connection)
    }

    private func mark(_ number: Int64) -> SQLCommand {
        SQLCommand(
            """
            INSERT INTO ledger_writer AS stored (process, slot, last) VALUES ($1, $2, $3)
            ON CONFLICT (process) DO UPDATE SET last = excluded.last, seen = clock_timestamp() RETURNING \(ServerClock.expression)
            """, [.integer(process), .integer(slot), .integer(number)])
    }

    /// `flushes`: True if pending counts must be written.
    func commit(
        _ entries: [LedgerEntry], now: Int64? = nil, flushes: Bool, _ connection: PostgresConnection,
        isLate: (_ entry: Int) -> Bool = { _ in false }
    ) throws -> [Result<LedgerReceipt, any Error>] {
        // The process may have been frozen since the last reading of the time.
        let moment = now ?? clock.now
        if isLogUnread {
            counters.reset()
            log = RateCounterLog()
            log.read(try connection.run([log.question(besides: nil)])[0], into: counters)
            isLogUnread = false
        }
        var group = PostgresLedgerGroup(entries, counters, at: moment)
        if days.isMissing(group.days) {
            // No partitions are created for events with times of a wrong clock.
            try clock.ask(connection)
            try days.make(group.days, today: LedgerTime.day(of: moment), connection)
        }
        number += 1
        let (receipts, uncounted, time) = try decide(&group, moment, now: now, connection, isLate)
        var commands = group.commands(at: time) + RateCounterLog.commands(counters, process: process, number: number)
        guard flushes && !rollups.isEmpty || rollups.isDue || !commands.isEmpty else {
            // The group has only deferrable counts, which wait for the next group or flush. The rollback needs no wait.
            try connection.post([SQLCommand("ROLLBACK")])
            rollups.postpone()
            counters.discard()
            self.uncounted = uncounted
            return receipts
        }
        commands += rollups.sums.commands(.postgres, slot: slot) + [SQLCommand("COMMIT")]
        do throws(PostgresError) {
            _ = try connection.run(commands)
        } catch {
            guard error.isEndOfSession else { throw error }
            var error = error
            error.isUncertain = true
            throw LostCommit(number: number, receipts: receipts, cause: error)
        }
        finish()
        self.uncounted = uncounted
        return receipts
    }

    private func decide(
        _ group: inout PostgresLedgerGroup, _ moment: Int64, now: Int64?, _ connection: PostgresConnection, _ isLate: (Int) -> Bool
    ) throws -> ([Result<LedgerReceipt, any Error>], PendingRollup, now: Int64) {
        // The row is locked first, and so for as long as the transaction may still be committed: see `hasCommitted`.
        let start = WallClock.now()
        let locks = [SQLCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), mark(number)] + group.locks
        let log = group.readsLog ? [self.log.question(besides: process)] : []
        let answers = try connection.run(locks + log + group.questions)
        let time: Int64
        do throws(StoreError) {
            time = try clock.check(answers[1].integer(0, 0), askedAt: start)
        } catch {
            try connection.post([SQLCommand("ROLLBACK")])
            throw error
        }
        if group.readsLog {
            self.log.read(answers[locks.count], into: counters)
            // Others have put short windows elsewhere since the questions were made.
            guard !counters.isOutdated(at: moment) else {
                throw PostgresError(code: "40001", message: "the group must be repeated")
            }
        }
        group.apply(answers.dropFirst(locks.count + log.count))
        var uncounted = uncounted
        let moment = now ?? time
        return (group.decide(at: moment, &rollups, &uncounted, isLate: isLate), uncounted, moment)
    }

    /// It waits for the row while the lost session may still commit, so the result is final.
    func hasCommitted(_ lost: LostCommit, _ connection: PostgresConnection) throws -> Bool {
        let rows = try connection.query("SELECT last FROM ledger_writer WHERE process = $1 FOR UPDATE", .integer(process))
        let isCommitted = !rows.isEmpty && rows.integer(0, 0) == lost.number
        if isCommitted { finish() } else { discard() }
        return isCommitted
    }

    private func finish() {
        rollups.hasCommitted()
        counters.hasCommitted()
    }

    func discard() {
        rollups.discard()
        counters.discard()
        days.forget()
    }
}

extension PostgresError {
    var isEndOfSession: Bool { isConnectionLost || code.isEmpty || code.hasPrefix("57P") || code.hasPrefix("08") }
}
