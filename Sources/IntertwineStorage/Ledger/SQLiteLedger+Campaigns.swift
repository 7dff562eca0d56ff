import GRDB
package import IntertwineFeed

extension SQLiteLedger: CampaignLedger {
    package func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount] {
        try reading { database in
            let statement = try SQLStatement(
                database, "SELECT campaign, at, count FROM exposure WHERE viewer = ?1 AND at > ?2 ORDER BY campaign, at LIMIT 100000")
            defer { statement.reset() }
            try statement.bind(1, viewer)
            try statement.bind(2, moment)
            var exposures: [FrequencyCount] = []
            while try statement.step() {
                exposures.append(FrequencyCount(campaign: statement.text(0), at: statement.integer(1), count: Int(statement.integer(2))))
            }
            return exposures
        }
    }

    package func served(to viewer: String, besides process: String, now: Int64) throws -> [FrequencyCount] {
        try reading { try ClaimTable.served(to: viewer, besides: process, now: now, $0) }
    }

    package func page(_ key: Int64, of viewer: String, now: Int64) throws -> [UInt8]? {
        try reading { try ClaimTable.page(key, of: viewer, now: now, $0) }
    }

    package func claim(_ claim: FrequencyCapReservation) throws -> Bool {
        do {
            return try commits.claim(claim)
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    package func delivered(_ questions: [DeliveryQuery]) throws -> [DeliveryCount] {
        try reading { try GoalTable.delivered(questions, $0) }
    }

    package func knownCreatives() throws -> Set<CreativeID> {
        try reading { database in
            let statement = try SQLStatement(database, "SELECT kind, id FROM known_creative")
            defer { statement.reset() }
            var creatives: Set<CreativeID> = []
            while try statement.step() { creatives.insert(CreativeID(kind: statement.kind(0), id: statement.text(1))) }
            return creatives
        }
    }

    package func remember(_ creatives: [CreativeID]) throws {
        do {
            try commits.sweepBlocking { database in
                for creative in creatives {
                    try SQLStatement.run(
                        database, "INSERT OR IGNORE INTO known_creative (kind, id) VALUES (?1, ?2)", .kind(creative.kind),
                        .text(creative.id))
                }
            }
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

    package func exchange(_ exchange: BudgetSyncRequest, _ decide: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws {
        do {
            try commits.sweepBlocking { try GoalTable.exchange(exchange, decide, $0) }
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
