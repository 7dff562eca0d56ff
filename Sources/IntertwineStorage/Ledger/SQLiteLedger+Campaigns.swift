import GRDB
package import IntertwineFeed

extension SQLiteLedger: CampaignLedger {
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

    package func given(to viewer: String, besides process: String, now: Int64) throws -> [CampaignExposure] {
        try reading { try ClaimTable.given(to: viewer, besides: process, now: now, $0) }
    }

    package func claim(_ claim: CampaignClaim) throws -> Bool {
        do {
            return try commits.sweepBlocking { try ClaimTable.add(claim, $0) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    package func hasOthers(besides process: String, now: Int64) throws -> Bool {
        try reading { database in
            let sql = "SELECT 1 FROM reservation WHERE campaign = '' AND process != ?1 AND until > ?2 LIMIT 1"
            return try SQLStatement.integer(database, sql, .text(process), .integer(now)) != nil
        }
    }

    package func exchange(_ exchange: GoalExchange, _ hold: @escaping @Sendable (GoalSituation) -> GoalHoldings) throws {
        do {
            try commits.sweepBlocking { try GoalTable.exchange(exchange, hold, $0) }
        } catch let error as DatabaseError {
            throw StoreError(error)
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
