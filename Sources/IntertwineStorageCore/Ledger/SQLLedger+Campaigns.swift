package import IntertwineFeed

extension SQLLedger {
    package func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount] {
        try reading { session in
            try session.rows(
                "SELECT campaign, at, count FROM exposure WHERE viewer = ?1 AND at > ?2 ORDER BY campaign, at LIMIT 100000",
                .text(viewer), .integer(moment)
            ) { FrequencyCount(campaign: $0.text(0), at: $0.integer(1), count: Int($0.integer(2))) }
        }
    }

    package func served(to viewer: String, besides process: String, now: Int64) throws -> [FrequencyCount] {
        try reading { try FrequencyCapReservation.served(to: viewer, besides: process, now: now, $0) }
    }

    package func page(_ key: Int64, of viewer: String, now: Int64) throws -> [UInt8]? {
        try reading { session in
            try session.first(
                "SELECT given FROM given_page WHERE viewer = ?1 AND page = ?2 AND until > ?3", .text(viewer), .integer(key),
                .integer(now)
            ) { $0.bytes(0) }
        }
    }

    package func delivered(_ questions: [DeliveryQuery]) throws -> [DeliveryCount] {
        try reading { try BudgetLeaseTable.delivered(questions, $0) }
    }

    package func knownCreatives() throws -> Set<CreativeID> {
        try reading { Set(try $0.rows("SELECT kind, id FROM known_creative") { CreativeID(kind: $0.text(0), id: $0.text(1)) }) }
    }

    package func remember(_ creatives: [CreativeID]) throws {
        let creatives = creatives.sorted { ($0.kind, $0.id) < ($1.kind, $1.id) }
        try writingInTurn(nil) { session in
            _ = try session.write(
                "INSERT INTO known_creative (kind, id) \(Session.dialect.values(2)) ON CONFLICT DO NOTHING",
                .texts(creatives.map(\.kind)), .texts(creatives.map(\.id)))
        }
    }

    package func hasOthers(besides process: String, now: Int64) throws -> Bool {
        try reading { session in
            try session.integer(
                "SELECT 1 FROM reservation WHERE campaign = '' AND process <> ?1 AND until > ?2 LIMIT 1", .text(process),
                .integer(now)) != nil
        }
    }

    package func exchange(_ exchange: BudgetSyncRequest, _ decide: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws {
        try writingInTurn(.reservations) { try BudgetLeaseTable.exchange(exchange, decide, $0) }
    }
}
