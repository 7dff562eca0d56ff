package import IntertwineFeed

/// An impression that is recorded between the two reads may be counted twice, but is never omitted, because the rows of a process stay in
/// the table until its next exchange.
package enum BudgetLeaseTable {
    /// Call it within a write transaction.
    package static func exchange<Session: SQLSession>(
        _ request: BudgetSyncRequest, _ decide: (BudgetSyncState) -> SharedBudgetLeases, _ session: Session
    ) throws {
        // Rows with an end too far in the future were written before a clock was set back.
        let expired: [SQLValue] = [.integer(request.now), .integer(request.now + 2 * (request.lifetime + request.presence))]
        let giver = ReservationID.number(of: request.process)
        var state = BudgetSyncState(delivered: [])
        var own: [String: (lease: SharedBudgetLease, until: Int64)] = [:]
        let isOver = "until <= ?1 OR until > ?2"
        try session.run([
            SQLCommand("DELETE FROM reservation WHERE \(isOver)", expired), SQLCommand("DELETE FROM seen_place WHERE \(isOver)", expired),
            question(request.questions, Session.dialect), SQLCommand(others, [.text(request.process)]),
            SQLCommand("SELECT campaign, count, allowed, until FROM reservation WHERE process = ?1", [.text(request.process)]),
            SQLCommand(
                "DELETE FROM seen_place WHERE giver = ?1 RETURNING slot, address, campaign, count", [.integer(Int64(giver))]),
        ]) { command, row in
            switch command {
            case 2: state.delivered.append(count(row))
            case 3: add(row, to: &state)
            case 4: own[row.text(0)] = (lease(row), row.integer(3))
            default:
                let reservation = ReservationID(
                    process: giver, slot: UInt16(clamping: row.integer(0)), address: UInt16(clamping: row.integer(1)))
                state.seen.append(RemoteImpressions(campaign: row.text(2), reservation: reservation, count: Int(row.integer(3))))
            }
        }
        try session.run(
            publication(of: request, Session.dialect) + replacement(of: own, by: decide(state), request, Session.dialect)
        ) { _, _ in }
    }

    static func delivered<Session: SQLSession>(_ questions: [DeliveryQuery], _ session: Session) throws -> [DeliveryCount] {
        var counts: [DeliveryCount] = []
        try session.run([question(questions, Session.dialect)]) { counts.append(count($1)) }
        return counts
    }

    private static func question(_ questions: [DeliveryQuery], _ dialect: SQLDialect) -> SQLCommand {
        let ofCampaign = "FROM delivery WHERE delivery.campaign = asked.campaign AND delivery.kind = asked.kind"
        return SQLCommand(
            """
            SELECT CAST(coalesce((SELECT sum(count) \(ofCampaign) AND span = -1), 0) AS bigint),
                CAST(coalesce((SELECT sum(count) \(ofCampaign) AND span >= asked.since), 0) AS bigint)
            FROM \(dialect.table("asked", ["campaign", "kind", "since", "number"])) ORDER BY asked.number
            """,
            [
                .texts(questions.map(\.campaign)), .texts(questions.map(\.kind.rawValue)),
                .integers(questions.map { LedgerTime.span(of: $0.day) }), .integers(questions.indices.map(Int64.init)),
            ])
    }

    private static func count(_ row: some SQLRow) -> DeliveryCount { DeliveryCount(total: row.integer(0), today: row.integer(1)) }

    private static func lease(_ row: some SQLRow) -> SharedBudgetLease {
        SharedBudgetLease(served: Int(row.integer(1)), allowed: Int(row.integer(2)))
    }

    private static let others = """
        SELECT campaign, CAST(sum(count) AS bigint),
            CAST(coalesce(
                sum(allowed) FILTER (WHERE process IN (SELECT process FROM reservation WHERE campaign = '')), 0) AS bigint),
            count(*), count(*) FILTER (WHERE process < ?1)
        FROM reservation WHERE process <> ?1 GROUP BY campaign
        """

    private static func add(_ row: some SQLRow, to state: inout BudgetSyncState) {
        let campaign = row.text(0)
        if campaign.isEmpty {
            (state.processes, state.before) = (Int(row.integer(3)), Int(row.integer(4)))
        } else {
            state.others[campaign] = lease(row)
        }
    }

    private static func publication(of request: BudgetSyncRequest, _ dialect: SQLDialect) -> [SQLCommand] {
        guard !request.seen.isEmpty else { return [] }
        return [
            SQLCommand(
                """
                INSERT INTO seen_place AS old (giver, slot, address, campaign, count, until) \(dialect.values(5, and: 1))
                ON CONFLICT (giver, slot, address, campaign) DO UPDATE SET count = old.count + excluded.count, until = excluded.until
                """,
                [
                    .integers(request.seen.map { Int64($0.reservation.process) }),
                    .integers(request.seen.map { Int64($0.reservation.slot) }),
                    .integers(request.seen.map { Int64($0.reservation.address) }), .texts(request.seen.map(\.campaign)),
                    .integers(request.seen.map { Int64($0.count) }), .integer(request.now + request.lifetime + request.presence),
                ])
        ]
    }

    /// Writes the leases that have changed, and those that would soon expire.
    private static func replacement(
        of old: [String: (lease: SharedBudgetLease, until: Int64)], by leases: SharedBudgetLeases, _ request: BudgetSyncRequest,
        _ dialect: SQLDialect
    ) -> [SQLCommand] {
        var new = leases.counts.filter { campaign, lease in
            guard let old = old[campaign] else { return true }
            return old.lease != lease || old.until < request.now + request.lifetime
        }
        if leases.isThere { new[""] = SharedBudgetLease() }
        let gone = old.keys.filter { $0.isEmpty ? !leases.isThere : leases.counts[$0] == nil }.sorted()
        let rows = new.sorted { $0.key < $1.key }
        return [
            SQLCommand(
                "DELETE FROM reservation WHERE campaign \(dialect.isAny("?1")) AND process = ?2", [.texts(gone), .text(request.process)]),
            SQLCommand(
                """
                INSERT INTO reservation (campaign, count, allowed, until, process) \(dialect.values(4, and: 1))
                ON CONFLICT (process, campaign) DO UPDATE
                    SET count = excluded.count, allowed = excluded.allowed, until = excluded.until
                """,
                [
                    .texts(rows.map(\.key)), .integers(rows.map { Int64($0.value.served) }),
                    .integers(rows.map { Int64($0.value.allowed) }),
                    .integers(rows.map { request.now + request.presence + ($0.key.isEmpty ? 0 : request.lifetime) }),
                    .text(request.process),
                ]),
        ]
    }
}
