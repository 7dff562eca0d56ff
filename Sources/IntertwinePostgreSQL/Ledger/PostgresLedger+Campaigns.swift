package import IntertwineFeed
internal import IntertwineStorageCore

/// The deliveries of campaigns by viewer, shared by all replicas.
extension PostgresLedger {
    package func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount] {
        try reading { connection in
            let rows = try connection.query(
                "SELECT campaign, at, count FROM exposure WHERE viewer = $1 AND at > $2 ORDER BY campaign, at LIMIT 100000",
                .text(viewer), .integer(moment))
            return (0..<rows.count).map {
                FrequencyCount(campaign: rows.text($0, 0), at: rows.integer($0, 1), count: Int(rows.integer($0, 2)))
            }
        }
    }

    package func served(to viewer: String, besides process: String, now: Int64) throws -> [FrequencyCount] {
        try reading { try Self.readServed(to: viewer, besides: process, now: now, $0) }
    }

    private static func readServed(
        to viewer: String, besides process: String, now: Int64, _ connection: PostgresConnection
    ) throws -> [FrequencyCount] {
        let rows = try connection.query(
            """
            SELECT campaign, at, count FROM claim WHERE viewer = $1 AND process <> $2 AND until > $3 ORDER BY campaign, at LIMIT 10000
            """, .text(viewer), .text(process), .integer(now))
        return (0..<rows.count).map {
            FrequencyCount(campaign: rows.text($0, 0), at: rows.integer($0, 1), count: Int(rows.integer($0, 2)))
        }
    }

    package func page(_ key: Int64, of viewer: String, now: Int64) throws -> [UInt8]? {
        try reading { connection in
            let rows = try connection.query(
                "SELECT given FROM given_page WHERE viewer = $1 AND page = $2 AND until > $3", .text(viewer), .integer(key),
                .integer(now))
            return rows.isEmpty ? nil : rows.bytes(0, 0)
        }
    }

    /// One replica at a time records the deliveries to a viewer.
    package func claim(_ claim: FrequencyCapReservation) throws -> Bool {
        let entries = claim.counts.sorted { $0.key < $1.key }
        return try reading { connection in
            try connection.transaction {
                try connection.run([
                    PostgresCommand("SET LOCAL synchronous_commit = off"),
                    PostgresCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                        [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.of(claim.viewer))]),
                ])
                let known = try Self.readServed(to: claim.viewer, besides: claim.process, now: claim.now, connection)
                guard claim.counts.isEmpty || known.reduce(0, { $0 + $1.count }) == claim.known else { return false }
                try connection.run([
                    PostgresCommand(
                        """
                        DELETE FROM claim WHERE (viewer, process, campaign, at) IN (
                            SELECT viewer, process, campaign, at FROM claim WHERE until <= $1 ORDER BY until LIMIT 100
                            FOR UPDATE SKIP LOCKED)
                        """, [.integer(claim.now)]),
                    PostgresCommand(
                        """
                        DELETE FROM given_page WHERE (viewer, page) IN (
                            SELECT viewer, page FROM given_page WHERE until <= $1 ORDER BY until LIMIT 100 FOR UPDATE SKIP LOCKED)
                        """, [.integer(claim.now)]),
                    PostgresCommand(
                        """
                        INSERT INTO given_page (viewer, page, given, until) VALUES ($1, $2, $3, $4)
                        ON CONFLICT (viewer, page) DO UPDATE SET given = excluded.given, until = excluded.until
                        """,
                        [.text(claim.viewer), .integer(claim.page.key), .bytes(claim.page.served), .integer(claim.until)]),
                    PostgresCommand(
                        """
                        INSERT INTO claim AS old (viewer, process, campaign, at, count, until)
                            SELECT $1, $2, campaign, $5, count, $6 FROM unnest($3, $4) AS new (campaign, count)
                        ON CONFLICT (viewer, process, campaign, at) DO UPDATE
                            SET count = old.count + excluded.count, until = excluded.until
                        """,
                        [
                            .text(claim.viewer), .text(claim.process), .texts(entries.map(\.key)),
                            .integers(entries.map { Int64($0.value) }), .integer(claim.now), .integer(claim.until),
                        ]),
                ])
                return true
            }
        }
    }

    package func delivered(_ questions: [DeliveryQuery]) throws -> [DeliveryCount] {
        try reading { PostgresGoalTable.delivered(try $0.run([PostgresGoalTable.question(questions)])[0]) }
    }

    package func knownCreatives() throws -> Set<CreativeID> {
        try reading { connection in
            let rows = try connection.query("SELECT kind, id FROM known_creative")
            return Set((0..<rows.count).map { CreativeID(kind: rows.kind($0, 0), id: rows.text($0, 1)) })
        }
    }

    package func remember(_ creatives: [CreativeID]) throws {
        let creatives = creatives.sorted { ($0.kind, $0.id) < ($1.kind, $1.id) }
        try reading { connection in
            try connection.transaction {
                _ = try connection.run([
                    PostgresCommand(
                        "INSERT INTO known_creative (kind, id) SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING",
                        [.kinds(creatives.map(\.kind)), .texts(creatives.map(\.id))])
                ])
            }
        }
    }

    package func hasOthers(besides process: String, now: Int64) throws -> Bool {
        try reading { connection in
            let rows = try connection.query(
                "SELECT 1 FROM reservation WHERE campaign = '' AND process <> $1 AND until > $2 LIMIT 1", .text(process),
                .integer(now))
            return !rows.isEmpty
        }
    }

    package func exchange(_ exchange: BudgetSyncRequest, _ decide: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws {
        try commits.blocking { connection in
            try connection.transaction {
                let rows = try connection.run(PostgresGoalTable.readings(exchange))
                let holdings = decide(PostgresGoalTable.situation(rows.suffix(3), of: exchange))
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
