import GRDB
internal import IntertwineFeed

/// The table `reservation`: the shares of campaign goals that each process holds.
///
/// Each process writes its own rows, one for each campaign, and one without a campaign that shows that the process is running.
/// Writes are serialized, so a process that writes reads the current shares of all others.
enum GoalTable {
    /// Exchanges shares with other processes. Call it within a write transaction.
    static func exchange(_ exchange: BudgetSyncRequest, _ decide: (BudgetSyncState) -> SharedBudgetLeases, _ database: Database) throws {
        // Deletes rows with an end too far in the future, which a clock that was set back leaves behind.
        let end = exchange.now + 2 * (exchange.lifetime + exchange.presence)
        try SQLStatement.run(
            database, "DELETE FROM reservation WHERE until <= ?1 OR until > ?2", .integer(exchange.now), .integer(end))
        try deleteRemoved(besides: exchange.process, database)
        var situation = BudgetSyncState(delivered: try delivered(exchange.questions, database))
        try add(others: exchange.process, to: &situation, database)
        try publish(exchange, until: end, database)
        situation.seen = try drainSeen(of: ReservationID.number(of: exchange.process), database)
        try write(decide(situation), of: exchange, database)
    }

    /// Frees the unserved shares of processes that have ended. Shares that they have served remain.
    private static func deleteRemoved(besides process: String, _ database: Database) throws {
        let find = try SQLStatement(database, "SELECT process FROM reservation WHERE campaign = '' AND process != ?1")
        var gone: [String] = []
        try find.bind(1, process)
        while try find.step() {
            let name = find.text(0)
            if ProcessName.hasEnded(name) { gone.append(name) }
        }
        find.reset()
        for name in gone { try SQLStatement.run(database, "DELETE FROM reservation WHERE process = ?1 AND campaign = ''", .text(name)) }
    }

    static func delivered(_ questions: [DeliveryQuery], _ database: any SQLConnection) throws -> [DeliveryCount] {
        let total = try SQLStatement(database, "SELECT count FROM delivery WHERE campaign = ?1 AND kind = ?2 AND span = -1")
        let today = try SQLStatement(database, "SELECT sum(count) FROM delivery WHERE campaign = ?1 AND kind = ?2 AND span >= ?3")
        return try questions.map { question in
            defer {
                total.reset()
                today.reset()
            }
            for statement in [total, today] {
                try statement.bind(1, question.campaign)
                try statement.bind(2, question.kind.rawValue)
            }
            try today.bind(3, LedgerTime.span(of: question.day))
            return DeliveryCount(
                total: try total.step() ? total.integer(0) : 0, today: try today.step() && !today.isNull(0) ? today.integer(0) : 0)
        }
    }

    private static func add(others process: String, to situation: inout BudgetSyncState, _ database: Database) throws {
        let find = try SQLStatement(
            database,
            """
            SELECT campaign, sum(count), sum(CASE WHEN process IN (SELECT process FROM reservation WHERE campaign = '') THEN allowed ELSE 0 END),
                count(*), sum(process < ?1)
            FROM reservation WHERE process != ?1 GROUP BY campaign
            """)
        defer { find.reset() }
        try find.bind(1, process)
        while try find.step() {
            let campaign = find.text(0)
            if campaign.isEmpty {
                (situation.processes, situation.before) = (Int(find.integer(3)), Int(find.integer(4)))
            } else {
                situation.others[campaign] = SharedBudgetLease(served: Int(find.integer(1)), allowed: Int(find.integer(2)))
            }
        }
    }

    /// Records impressions that this process has seen of ads that other processes served.
    private static func publish(_ exchange: BudgetSyncRequest, until end: Int64, _ database: Database) throws {
        try SQLStatement.run(database, "DELETE FROM seen_place WHERE until <= ?1 OR until > ?2", .integer(exchange.now), .integer(end))
        guard !exchange.seen.isEmpty else { return }
        let insert = try SQLStatement(
            database,
            """
            INSERT INTO seen_place (giver, slot, address, campaign, count, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (giver, slot, address, campaign) DO UPDATE SET count = count + excluded.count, until = excluded.until
            """)
        for seen in exchange.seen {
            try insert.bind(1, Int64(seen.reservation.process))
            try insert.bind(2, Int64(seen.reservation.slot))
            try insert.bind(3, Int64(seen.reservation.address))
            try insert.bind(4, seen.campaign)
            try insert.bind(5, Int64(seen.count))
            try insert.bind(6, exchange.now + exchange.lifetime + exchange.presence)
            try insert.run()
        }
    }

    private static func drainSeen(of giver: UInt16, _ database: Database) throws -> [RemoteImpressions] {
        let find = try SQLStatement(database, "SELECT slot, address, campaign, count FROM seen_place WHERE giver = ?1")
        var seen: [RemoteImpressions] = []
        try find.bind(1, Int64(giver))
        while try find.step() {
            let reservation = ReservationID(
                process: giver, slot: UInt16(clamping: find.integer(0)), address: UInt16(clamping: find.integer(1)))
            seen.append(RemoteImpressions(campaign: find.text(2), reservation: reservation, count: Int(find.integer(3))))
        }
        find.reset()
        if !seen.isEmpty { try SQLStatement.run(database, "DELETE FROM seen_place WHERE giver = ?1", .integer(Int64(giver))) }
        return seen
    }

    /// Writes the shares that have changed, and those that would soon expire.
    private static func write(_ holdings: SharedBudgetLeases, of exchange: BudgetSyncRequest, _ database: Database) throws {
        var left = holdings.counts
        let find = try SQLStatement(
            database, "SELECT campaign, count, allowed, until FROM reservation WHERE process = ?1 AND campaign != ''")
        var gone: [String] = []
        try find.bind(1, exchange.process)
        while try find.step() {
            let (campaign, until) = (find.text(0), find.integer(3))
            guard let holding = left[campaign] else {
                gone.append(campaign)
                continue
            }
            let old = SharedBudgetLease(served: Int(find.integer(1)), allowed: Int(find.integer(2)))
            if holding == old, until >= exchange.now + exchange.lifetime { left[campaign] = nil }
        }
        find.reset()
        for campaign in gone {
            try SQLStatement.run(
                database, "DELETE FROM reservation WHERE process = ?1 AND campaign = ?2", .text(exchange.process), .text(campaign))
        }
        let insert = try SQLStatement(
            database, "INSERT OR REPLACE INTO reservation (process, campaign, count, allowed, until) VALUES (?1, ?2, ?3, ?4, ?5)")
        func write(_ campaign: String, _ holding: SharedBudgetLease, until: Int64) throws {
            try insert.bind(1, exchange.process)
            try insert.bind(2, campaign)
            try insert.bind(3, Int64(holding.served))
            try insert.bind(4, Int64(holding.allowed))
            try insert.bind(5, until)
            try insert.run()
        }
        for (campaign, holding) in left {
            try write(campaign, holding, until: exchange.now + exchange.lifetime + exchange.presence)
        }
        if holdings.isThere {
            try write("", SharedBudgetLease(), until: exchange.now + exchange.presence)
        } else {
            try SQLStatement.run(database, "DELETE FROM reservation WHERE process = ?1 AND campaign = ''", .text(exchange.process))
        }
    }
}
