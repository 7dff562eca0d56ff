package import IntertwineFeed
internal import IntertwineStorage

/// What campaigns have delivered, and to whom: the same for all replicas.
extension PostgresLedger {
    package func deliveries(of questions: [DeliveryQuestion]) throws -> [Delivered] {
        guard !questions.isEmpty else { return [] }
        return try reading { connection in
            let rows = try connection.query(
                """
                SELECT coalesce(sum(count) FILTER (WHERE span = -1), 0)::bigint,
                    coalesce(sum(count) FILTER (WHERE span >= asked.since), 0)::bigint
                FROM unnest($1, $2, $3) WITH ORDINALITY AS asked (campaign, kind, since, number)
                LEFT JOIN delivery ON delivery.campaign = asked.campaign AND delivery.kind = asked.kind
                    AND (span = -1 OR span >= asked.since)
                GROUP BY asked.number ORDER BY asked.number
                """, .texts(questions.map(\.campaign)), .texts(questions.map(\.kind.rawValue)),
                .integers(questions.map { LedgerTime.span(of: $0.day) }))
            return (0..<rows.count).map { Delivered(total: rows.integer($0, 0), today: rows.integer($0, 1)) }
        }
    }

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

    /// For how long a process that tells nothing is taken to be there. Milliseconds.
    private static let presence: Int64 = 10_000

    package func exchange(_ reservations: CampaignReservations, now: Int64) async throws -> OtherReservations {
        // The row without a campaign says that the process is there.
        let own = [("", 0)] + reservations.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return try await pool.run(for: .background) { connection in
            let rows = try connection.run([
                PostgresCommand("BEGIN"), PostgresCommand("SET LOCAL synchronous_commit = off"),
                // One process after another: each sees what those before it have given out.
                PostgresCommand(
                    "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                    [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.reservations)]),
                PostgresCommand(
                    "DELETE FROM reservation WHERE process = $1 OR until <= $2", [.text(reservations.process), .integer(now)]),
                PostgresCommand(
                    "INSERT INTO reservation (process, campaign, count, until) SELECT $1, new.* FROM unnest($2, $3, $4) AS new",
                    [
                        .text(reservations.process), .texts(own.map(\.0)), .integers(own.map { Int64($0.1) }),
                        .integers(own.map { now + ($0.0.isEmpty ? Self.presence : reservations.lifetime) }),
                    ]),
                PostgresCommand(
                    """
                    SELECT campaign, sum(count)::bigint, count(*), count(*) FILTER (WHERE process COLLATE "C" < $1)
                    FROM reservation WHERE process <> $1 GROUP BY campaign
                    """, [.text(reservations.process)]),
                PostgresCommand("COMMIT"),
            ])
            let found = rows[5]
            var others = OtherReservations()
            for row in 0..<found.count {
                let campaign = found.text(row, 0)
                if campaign.isEmpty {
                    (others.processes, others.before) = (Int(found.integer(row, 2)), Int(found.integer(row, 3)))
                } else {
                    others.counts[campaign] = Int(found.integer(row, 1))
                }
            }
            return others
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
