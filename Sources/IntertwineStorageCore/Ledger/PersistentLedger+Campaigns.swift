package import IntertwineFeed

extension PersistentLedger {
    package func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount] {
        try reading { session in
            try session.rows(
                "SELECT campaign, at, count FROM exposure WHERE viewer = ?1 AND at > ?2 ORDER BY campaign, at LIMIT 100000",
                .text(viewer), .integer(moment)
            ) { FrequencyCount(campaign: $0.text(0), at: $0.integer(1), count: Int($0.integer(2))) }
        }
    }

    package func deliveries(
        of campaign: String, in spans: Range<Int64>
    ) async throws -> [(span: Int64, kind: LedgerEvent.Kind, count: Int)] {
        try await reading(for: .background) { session in
            try session.rows(
                """
                SELECT span, kind, CAST(sum(count) AS bigint) FROM delivery
                WHERE campaign = ?1 AND span >= ?2 AND span < ?3 AND kind <> 'offer' GROUP BY span, kind
                """, .text(campaign), .integer(spans.lowerBound), .integer(spans.upperBound)
            ) { ($0.integer(0), LedgerEvent.Kind(rawValue: $0.text(1)), Int($0.integer(2))) }
        }
    }

    package func refresh(adding offers: [String: Int64], _ queries: [DeliveryQuery], now: Int64) throws -> DeliveryRefresh {
        if !offers.isEmpty { try addingCounts { try DeliveryTable.add(offers, slot: $1, at: now, $0) } }
        return try reading { (try DeliveryTable.counts(queries, now: now, $0), try processes(in: $0)) }
    }
}
