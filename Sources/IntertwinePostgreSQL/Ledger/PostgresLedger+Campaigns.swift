package import IntertwineFeed
internal import IntertwineStorage

/// What campaigns have delivered, and to whom: the same for all replicas.
extension PostgresLedger {
    package func exposures(of viewer: String, since moment: Int64) throws -> [CampaignExposure] {
        try reading { connection in
            let rows = try connection.query(
                "SELECT campaign, at, count FROM exposure WHERE viewer = $1 AND at > $2 ORDER BY campaign, at LIMIT 100000",
                .text(viewer), .integer(moment))
            return (0..<rows.count).map {
                CampaignExposure(campaign: rows.text($0, 0), at: rows.integer($0, 1), count: Int(rows.integer($0, 2)))
            }
        }
    }

    package func hasOthers(besides process: String, now: Int64) throws -> Bool {
        try reading { connection in
            let rows = try connection.query(
                "SELECT 1 FROM reservation WHERE campaign = '' AND process <> $1 AND until > $2 LIMIT 1", .text(process), .integer(now))
            return !rows.isEmpty
        }
    }

    package func exchange(_ exchange: GoalExchange, _ hold: @escaping @Sendable (GoalSituation) -> GoalHoldings) throws {
        try commits.blocking { connection in
            try connection.transaction {
                let rows = try connection.run(PostgresGoalTable.readings(exchange))
                let holdings = hold(PostgresGoalTable.situation(rows.suffix(2)))
                try connection.run(PostgresGoalTable.writings(holdings, of: exchange))
            }
        }
    }

    /// Reads on the caller's thread.
    private func reading<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        do {
            return try pool.use(body)
        } catch let error as PostgresError {
            throw error.storeError
        }
    }
}
