import GRDB
package import IntertwineFeed

extension SQLiteLedger: CampaignLedger {
    package func deliveries(of questions: [DeliveryQuestion]) throws -> [Delivered] {
        try reading { database in
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
                return Delivered(
                    total: try total.step() ? total.integer(0) : 0, today: try today.step() && !today.isNull(0) ? today.integer(0) : 0)
            }
        }
    }

    package func exposures(of viewer: String, since moment: Int64) throws -> [CampaignExposure] {
        try reading { database in
            let statement = try SQLStatement(
                database, "SELECT campaign, at, count FROM exposure WHERE viewer = ?1 AND at > ?2 ORDER BY campaign, at LIMIT 100000")
            defer { statement.reset() }
            try statement.bind(1, viewer)
            try statement.bind(2, moment)
            var exposures: [CampaignExposure] = []
            while try statement.step() {
                exposures.append(CampaignExposure(campaign: statement.text(0), at: statement.integer(1), count: Int(statement.integer(2))))
            }
            return exposures
        }
    }

    /// For how long a process that tells nothing is taken to be there. Milliseconds.
    private static let presence: Int64 = 10_000

    package func exchange(_ reservations: CampaignReservations, now: Int64) async throws -> OtherReservations {
        try await StoreError.wrapping {
            try await commits.sweep { database in
                let process = reservations.process
                try SQLStatement.run(
                    database, "DELETE FROM reservation WHERE process = ?1 OR until <= ?2", .text(process), .integer(now))
                let insert = try SQLStatement(
                    database, "INSERT INTO reservation (process, campaign, count, until) VALUES (?1, ?2, ?3, ?4)")
                // The row without a campaign says that the process is there.
                for (campaign, count) in [("", 0)] + reservations.counts.map({ ($0.key, $0.value) }) {
                    try insert.bind(1, process)
                    try insert.bind(2, campaign)
                    try insert.bind(3, Int64(count))
                    try insert.bind(4, now + (campaign.isEmpty ? Self.presence : reservations.lifetime))
                    try insert.run()
                }
                let find = try SQLStatement(
                    database,
                    "SELECT campaign, sum(count), count(*), sum(process < ?1) FROM reservation WHERE process != ?1 GROUP BY campaign")
                defer { find.reset() }
                try find.bind(1, process)
                var others = OtherReservations()
                while try find.step() {
                    let campaign = find.text(0)
                    if campaign.isEmpty {
                        (others.processes, others.before) = (Int(find.integer(2)), Int(find.integer(3)))
                    } else {
                        others.counts[campaign] = Int(find.integer(1))
                    }
                }
                return others
            }
        }
    }

    /// Reads on the caller's thread.
    private func reading<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        do {
            return try connections.read(body)
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}
