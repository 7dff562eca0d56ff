internal import IntertwineFeed

enum DeliveryTable {
    static func add<Session: SQLSession>(_ offers: [String: Int64], slot: Int64?, at now: Int64, _ session: Session) throws {
        let rows = offers.sorted { $0.key < $1.key }
        let columns = slot == nil ? "" : ", slot"
        try session.run(
            [DeliveryBook.total.lowerBound, LedgerTime.span(of: now)].map { span in
                SQLCommand(
                    """
                    INSERT INTO delivery AS stored (campaign, count, kind, span\(columns)) \(Session.dialect.values(2, and: slot == nil ? 2 : 3))
                    ON CONFLICT (campaign, kind, span\(columns)) DO UPDATE SET count = stored.count + excluded.count
                    """,
                    [.texts(rows.map(\.key)), .integers(rows.map(\.value)), .text(LedgerEvent.Kind.offer.rawValue), .integer(span)]
                        + (slot.map { [.integer($0)] } ?? []))
            }
        ) { _, _ in }
    }

    static func counts<Session: SQLSession>(_ queries: [DeliveryQuery], now: Int64, _ session: Session) throws -> [DeliveryCount] {
        var counts: [DeliveryCount] = []
        guard !queries.isEmpty else { return counts }
        try session.run([
            SQLCommand(
                text(Session.dialect),
                [
                    .texts(queries.map(\.campaign)), .texts(queries.map(\.kind.rawValue)), .texts(queries.map(\.kind.surplus.rawValue)),
                    .integers(queries.map { LedgerTime.span(of: $0.day) }), .integers(queries.indices.map(Int64.init)),
                    .integer(LedgerTime.span(of: DeliveryQuery.recent(at: now))), .text(LedgerEvent.Kind.offer.rawValue),
                ])
        ]) { _, row in
            counts.append(
                DeliveryCount(
                    total: row.integer(0), today: row.integer(1), surplus: row.integer(2), offers: row.integer(3),
                    recentOffers: row.integer(4), recentSeen: row.integer(5)))
        }
        return counts
    }

    private static func text(_ dialect: SQLDialect) -> String {
        func sum(_ kind: String, _ spans: String) -> String {
            """
            CAST(coalesce((
                SELECT sum(count) FROM delivery WHERE delivery.campaign = asked.campaign AND delivery.kind \(kind) AND span \(spans)), 0) AS bigint)
            """
        }
        return """
            SELECT \(sum("= asked.kind", "= -1")), \(sum("= asked.kind", ">= asked.since")), \(sum("= asked.surplus", "= -1")),
                \(sum("= ?7", "= -1")), \(sum("= ?7", ">= ?6")), \(sum("IN (asked.kind, asked.surplus)", ">= ?6"))
            FROM \(dialect.table("asked", ["campaign", "kind", "surplus", "since", "number"])) ORDER BY asked.number
            """
    }
}
