internal import IntertwineFeed
internal import IntertwineStorageCore

/// The table `reservation`: the leases of processes on campaign goals, as in `GoalTable` of the SQLite ledger.
///
/// Each process writes its own rows. An advisory lock serializes the exchanges.
///
/// An exchange reads the delivered counts before the leases of other processes. An impression that is recorded between the two reads may be
/// counted twice, but is never omitted. Why: the rows of a process stay in the table until its next exchange.
enum PostgresGoalTable {
    /// Returns the commands that read the state of an exchange. The results of the last three are the input of `situation`.
    static func readings(_ exchange: BudgetSyncRequest) -> [PostgresCommand] {
        let end = exchange.now + 2 * (exchange.lifetime + exchange.presence)
        return [
            PostgresCommand("SET LOCAL synchronous_commit = off"),
            PostgresCommand(
                "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.reservations)]),
            // A clock that was set back leaves rows that would hold for too long.
            PostgresCommand("DELETE FROM reservation WHERE until <= $1 OR until > $2", [.integer(exchange.now), .integer(end)]),
            question(exchange.questions),
            PostgresCommand(
                """
                SELECT campaign, sum(count)::bigint,
                    coalesce(sum(allowed) FILTER (WHERE process IN (SELECT process FROM reservation WHERE campaign = '')), 0)::bigint,
                    count(*), count(*) FILTER (WHERE process COLLATE "C" < $1)
                FROM reservation WHERE process <> $1 GROUP BY campaign
                """, [.text(exchange.process)]),
            PostgresCommand(
                "DELETE FROM seen_place WHERE giver = $1 AND until > $2 RETURNING slot, address, campaign, count",
                [.integer(Int64(ReservationID.number(of: exchange.process))), .integer(exchange.now)]),
        ]
    }

    /// Returns the query for the delivered counts of campaigns. Its rows are in the order of the questions.
    static func question(_ questions: [DeliveryQuery]) -> PostgresCommand {
        PostgresCommand(
            """
            SELECT coalesce(sum(count) FILTER (WHERE span = -1), 0)::bigint,
                coalesce(sum(count) FILTER (WHERE span >= asked.since), 0)::bigint
            FROM unnest($1, $2, $3) WITH ORDINALITY AS asked (campaign, kind, since, number)
            LEFT JOIN delivery ON delivery.campaign = asked.campaign AND delivery.kind = asked.kind
                AND (span = -1 OR span >= asked.since)
            GROUP BY asked.number ORDER BY asked.number
            """,
            [
                .texts(questions.map(\.campaign)), .texts(questions.map(\.kind.rawValue)),
                .integers(questions.map { LedgerTime.span(of: $0.day) }),
            ])
    }

    static func delivered(_ answer: PostgresRows) -> [DeliveryCount] {
        (0..<answer.count).map { DeliveryCount(total: answer.integer($0, 0), today: answer.integer($0, 1)) }
    }

    static func situation(_ answers: ArraySlice<PostgresRows>, of exchange: BudgetSyncRequest) -> BudgetSyncState {
        guard answers.count == 3, let delivered = answers.first, let seen = answers.last else { return BudgetSyncState(delivered: []) }
        let others = answers[answers.startIndex + 1]
        var situation = BudgetSyncState(delivered: Self.delivered(delivered))
        for row in 0..<others.count {
            let campaign = others.text(row, 0)
            if campaign.isEmpty {
                (situation.processes, situation.before) = (Int(others.integer(row, 3)), Int(others.integer(row, 4)))
            } else {
                situation.others[campaign] = SharedBudgetLease(served: Int(others.integer(row, 1)), allowed: Int(others.integer(row, 2)))
            }
        }
        let giver = ReservationID.number(of: exchange.process)
        situation.seen = (0..<seen.count).map { row in
            let reservation = ReservationID(
                process: giver, slot: UInt16(clamping: seen.integer(row, 0)), address: UInt16(clamping: seen.integer(row, 1)))
            return RemoteImpressions(campaign: seen.text(row, 2), reservation: reservation, count: Int(seen.integer(row, 3)))
        }
        return situation
    }

    /// Returns the commands that publish impressions which this process received for reservations of other processes.
    private static func tellings(_ exchange: BudgetSyncRequest) -> [PostgresCommand] {
        let end = exchange.now + 2 * (exchange.lifetime + exchange.presence)
        let sweep = PostgresCommand("DELETE FROM seen_place WHERE until <= $1 OR until > $2", [.integer(exchange.now), .integer(end)])
        guard !exchange.seen.isEmpty else { return [sweep] }
        return [
            sweep,
            PostgresCommand(
                """
                INSERT INTO seen_place AS old (giver, slot, address, campaign, count, until)
                    SELECT new.*, $6 FROM unnest($1, $2, $3, $4, $5) AS new
                ON CONFLICT (giver, slot, address, campaign) DO UPDATE SET count = old.count + excluded.count, until = excluded.until
                """,
                [
                    .integers(exchange.seen.map { Int64($0.reservation.process) }),
                    .integers(exchange.seen.map { Int64($0.reservation.slot) }),
                    .integers(exchange.seen.map { Int64($0.reservation.address) }), .texts(exchange.seen.map(\.campaign)),
                    .integers(exchange.seen.map { Int64($0.count) }), .integer(exchange.now + exchange.lifetime + exchange.presence),
                ]),
        ]
    }

    /// Returns the commands that write the leases of a process: changed leases, and leases that expire soon.
    ///
    /// The row without a campaign shows that the process is running.
    static func writings(_ holdings: SharedBudgetLeases, of exchange: BudgetSyncRequest) -> [PostgresCommand] {
        let (now, lifetime, presence) = (exchange.now, exchange.lifetime, exchange.presence)
        let own =
            (holdings.isThere ? [("", SharedBudgetLease())] : [])
            + holdings.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return tellings(exchange) + [
            PostgresCommand(
                "DELETE FROM reservation WHERE process = $1 AND campaign <> ALL($2)", [.text(exchange.process), .texts(own.map(\.0))]),
            PostgresCommand(
                """
                INSERT INTO reservation AS old (process, campaign, count, allowed, until)
                    SELECT $1, new.* FROM unnest($2, $3, $4, $5) AS new
                ON CONFLICT (process, campaign) DO UPDATE
                    SET count = excluded.count, allowed = excluded.allowed, until = excluded.until
                    WHERE old.campaign = '' OR old.count <> excluded.count OR old.allowed <> excluded.allowed OR old.until < $6
                """,
                [
                    .text(exchange.process), .texts(own.map(\.0)), .integers(own.map { Int64($0.1.served) }),
                    .integers(own.map { Int64($0.1.allowed) }),
                    .integers(own.map { now + presence + ($0.0.isEmpty ? 0 : lifetime) }), .integer(now + lifetime),
                ]),
        ]
    }
}
