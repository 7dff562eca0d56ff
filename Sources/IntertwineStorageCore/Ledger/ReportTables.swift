internal import IntertwineFeed

package enum ReportCheckpoint: String, Sendable {
    case totals, trackers
    /// The highest number of a removed event.
    case removed
}

/// The marker advances in the transaction that adds the events. Each event is therefore counted once, whichever process aggregates it, and
/// clicks have no additional cost.
package enum ReportTables {
    static func marker<Session: SQLSession>(of checkpoint: ReportCheckpoint, locks: Bool = false, _ session: Session) throws -> Int64 {
        let lock = locks ? Session.dialect.locking("report_marker") : ""
        return try session.integer("SELECT marker FROM report_marker WHERE tally = ?1\(lock)", .text(checkpoint.rawValue)) ?? 0
    }

    package static func setMarker<Session: SQLSession>(of checkpoint: ReportCheckpoint, to marker: Int64, _ session: Session) throws {
        try session.write(
            """
            INSERT INTO report_marker AS stored (tally, marker) VALUES (?1, ?2)
            ON CONFLICT (tally) DO UPDATE SET marker = \(Session.dialect.greatest)(stored.marker, excluded.marker)
            """, .text(checkpoint.rawValue), .integer(marker))
    }

    // MARK: Totals

    static func add<Session: SQLSession>(_ totals: ReportTotals, _ session: Session) throws {
        let (ads, placements) = (totals.ads.values, totals.placements.values)
        let adIDs = try ids(
            in: "report_ad", ["cell", "campaign", "creative", "advertiser"],
            [ads.map(\.cell), ads.map(\.campaign), ads.map(\.creative), ads.map(\.advertiser)].map { .texts($0.map(\.text)) }, ads.count,
            session)
        let placementIDs = try ids(
            in: "report_place", ["feed", "section", "position"],
            [
                .texts(placements.map(\.feed.text)), .texts(placements.map(\.section.text)), .integers(placements.map(\.position)),
            ], placements.count, session)
        let counts = totals.counts.map { (total: $0.key, count: $0.value) }
        try session.write(
            """
            INSERT INTO report_total AS stored (combination, time, ad, place, kind, count) \(Session.dialect.values(6))
            ON CONFLICT (combination, time, ad, place, kind) DO UPDATE SET count = stored.count + excluded.count
            """, .integers(counts.map(\.total.combination.rawValue)), .integers(counts.map(\.total.time)),
            .integers(counts.map { $0.total.ad > 0 ? adIDs[$0.total.ad - 1] : 0 }),
            .integers(counts.map { $0.total.placement > 0 ? placementIDs[$0.total.placement - 1] : 0 }),
            .texts(counts.map { totals.kinds.values[$0.total.kind - 1].rawValue }), .integers(counts.map(\.count)))
    }

    private static func ids<Session: SQLSession>(
        in table: String, _ columns: [String], _ values: [SQLValue], _ count: Int, _ session: Session
    ) throws -> [Int64] {
        let names = columns.joined(separator: ", ")
        var ids: [Int64] = []
        try session.run([
            SQLCommand("INSERT INTO \(table) (\(names)) \(Session.dialect.values(columns.count)) ON CONFLICT DO NOTHING", values),
            SQLCommand(
                """
                SELECT id FROM \(Session.dialect.table("asked", columns + ["number"])) JOIN \(table) USING (\(names)) ORDER BY number
                """, values + [.integers((0..<count).map(Int64.init))]),
        ]) { ids.append($1.integer(0)) }
        guard ids.count == count else { throw StoreError.unavailable("\(table): a row that was added is missing") }
        return ids
    }

    static func removeSome(before moment: Int64, _ session: some SQLSession) throws -> Bool {
        var removed = 0
        for combination in ReportTotals.Dimensions.allCases where combination.isHourly {
            let first = try session.integer("SELECT min(time) FROM report_total WHERE combination = ?1", .integer(combination.rawValue))
            guard let first, first < moment / 3_600_000 else { continue }
            removed += try session.write(
                "DELETE FROM report_total WHERE combination = ?1 AND time <= ?2", .integer(combination.rawValue), .integer(first))
        }
        return removed > 0
    }
}
