internal import IntertwineFeed
internal import IntertwineStorageCore

/// The tables with totals and sketches of reports.
///
/// A transaction that adds events to them locks the row of a marker and adds the events behind that marker. Each event is therefore added once,
/// whichever replicas gather, and commits of clicks do not pay for it.
enum PostgresReportTables {
    enum RollupCheckpoint: String {
        case totals, viewers, trackers
    }

    static func marker(of tally: RollupCheckpoint, _ connection: PostgresConnection) throws -> Int64 {
        try connection.query("SELECT marker FROM report_marker WHERE tally = $1", .text(tally.rawValue)).integer(0, 0)
    }

    /// Locks the marker until the end of the transaction.
    ///
    /// - Returns: The marker.
    static func lock(_ tally: RollupCheckpoint, _ connection: PostgresConnection) throws -> Int64 {
        try connection.query("SELECT marker FROM report_marker WHERE tally = $1 FOR UPDATE", .text(tally.rawValue)).integer(0, 0)
    }

    static func setMarker(of tally: RollupCheckpoint, to marker: Int64, _ connection: PostgresConnection) throws {
        try connection.query(
            "UPDATE report_marker SET marker = greatest(marker, $2) WHERE tally = $1", .text(tally.rawValue), .integer(marker))
    }

    // MARK: Totals

    static func add(_ totals: ReportTotals, _ connection: PostgresConnection) throws {
        let ads = totals.ads.values
        let placementKeys = totals.placements.values
        let adValues = [ads.map(\.cell), ads.map(\.campaign), ads.map(\.creative), ads.map(\.advertiser)].map { texts in
            SQLValue.texts(texts.map(\.text))
        }
        let placeValues: [SQLValue] = [
            .texts(placementKeys.map(\.feed.text)), .texts(placementKeys.map(\.section.text)), .integers(placementKeys.map(\.position)),
        ]
        let rows = try connection.run([
            SQLCommand(
                """
                INSERT INTO report_ad (cell, campaign, creative, advertiser) SELECT * FROM unnest($1, $2, $3, $4) ON CONFLICT DO NOTHING
                """, adValues),
            SQLCommand(
                """
                SELECT id FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS asked (cell, campaign, creative, advertiser, number)
                JOIN report_ad USING (cell, campaign, creative, advertiser) ORDER BY number
                """, adValues),
            SQLCommand(
                "INSERT INTO report_place (feed, section, position) SELECT * FROM unnest($1, $2, $3) ON CONFLICT DO NOTHING", placeValues),
            SQLCommand(
                """
                SELECT id FROM unnest($1, $2, $3) WITH ORDINALITY AS asked (feed, section, position, number)
                JOIN report_place USING (feed, section, position) ORDER BY number
                """, placeValues),
        ])
        guard rows[1].count == ads.count, rows[3].count == placementKeys.count else {
            throw PostgresError(code: "P0002", message: "an advertisement's number is not found")
        }
        let counts = totals.counts.map { (total: $0.key, count: $0.value) }
        try connection.query(
            """
            INSERT INTO report_total AS kept (combination, time, ad, place, kind, count) SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
            ON CONFLICT (combination, time, ad, place, kind) DO UPDATE SET count = kept.count + excluded.count
            """, .integers(counts.map(\.total.combination.rawValue)), .integers(counts.map(\.total.time)),
            .integers(counts.map { $0.total.ad > 0 ? rows[1].integer($0.total.ad - 1, 0) : 0 }),
            .integers(counts.map { $0.total.placement > 0 ? rows[3].integer($0.total.placement - 1, 0) : 0 }),
            .texts(counts.map { totals.kinds.values[$0.total.kind - 1].rawValue }), .integers(counts.map(\.count)))
    }

    /// A report made of the totals.
    static func report(_ question: LedgerReport.Query, _ connection: PostgresConnection) throws -> LedgerReport {
        let combination = ReportTotals.Dimensions(of: question.groupings)
        let length: Int64 = combination.isHourly ? 24 : 1
        let columns = question.groupings.map { column($0, isHourly: combination.isHourly) }
        let rows = try connection.query(
            """
            SELECT \(columns.joined(separator: ", ")), kind, sum(count)::bigint
            FROM report_total LEFT JOIN report_ad ON report_ad.id = ad LEFT JOIN report_place ON report_place.id = place
            WHERE combination = $1 AND time BETWEEN $2 AND $3 AND (ad <> 0 OR NOT $4)
            GROUP BY \((1...columns.count + 1).map(String.init).joined(separator: ", "))
            ORDER BY \((1...columns.count + 1).map(String.init).joined(separator: ", "))
            """, .integer(combination.rawValue), .integer(Int64(question.days.lowerBound) &* length),
            .integer((Int64(question.days.upperBound) &+ 1) &* length - 1),
            .flag(question.groupings.contains(where: \.isOfAdvertisements)))
        var report = LedgerReport(rows: [])
        var last: [ByteString] = []
        for row in 0..<rows.count {
            let keys = question.groupings.enumerated().map { key($1, rows, row, $0) }
            // Texts that Swift takes for equal are two groups to the database.
            let texts = keys.map { ByteString($0.text) }
            if texts != last || report.rows.isEmpty {
                guard report.rows.count < LedgerReport.rowLimit else { throw LedgerReport.TooManyRowsError() }
                report.rows.append(LedgerReport.Row(key: keys[0], second: keys.count > 1 ? keys[1] : nil, counts: [:]))
                last = texts
            }
            report.rows[report.rows.count - 1].counts[LedgerEvent.Kind(rawValue: rows.text(row, columns.count))] =
                Int(rows.integer(row, columns.count + 1))
        }
        return report
    }

    private static func column(_ grouping: LedgerReport.Grouping, isHourly: Bool) -> String {
        switch grouping {
        case .day, .verdict, .reason, .choice: isHourly ? "time / 24" : "time"
        case .hour: "time"
        case .ad: "coalesce(cell, '')"
        case .campaign: "coalesce(campaign, '')"
        case .creative: "coalesce(creative, '')"
        case .advertiser: "coalesce(advertiser, '')"
        case .feed: "coalesce(feed, '')"
        case .section: "coalesce(section, '')"
        case .position: "coalesce(position, -1)"
        }
    }

    private static func key(_ grouping: LedgerReport.Grouping, _ rows: PostgresRows, _ row: Int, _ column: Int) -> LedgerReport.Key {
        switch grouping {
        case .day, .verdict, .reason, .choice: return .day(Int(rows.integer(row, column)))
        case .hour: return .hour(Int(rows.integer(row, column)))
        case .ad: return .ad(rows.text(row, column))
        case .campaign, .creative, .advertiser, .feed, .section: return .name(rows.text(row, column))
        case .position:
            let position = rows.integer(row, column)
            return .position(position < 0 ? nil : Int(position))
        }
    }

    // MARK: Sketches

    /// In a transaction that has the marker of the viewers locked.
    static func merge(_ sketches: ArraySlice<(key: ReportViewers.Subject, value: UniqueViewersSketch)>, _ connection: PostgresConnection)
        throws
    {
        let stored = try connection.query(
            """
            SELECT number, sketch FROM unnest($1, $2, $3) WITH ORDINALITY AS asked (grouping, key, day, number)
            JOIN report_viewers USING (grouping, key, day)
            """, .texts(sketches.map(\.key.grouping)), .texts(sketches.map(\.key.key.text)), .integers(sketches.map(\.key.day)))
        var merged = sketches.map { $0 }
        for row in 0..<stored.count {
            if let before = UniqueViewersSketch(stored.bytes(row, 1)) { merged[Int(stored.integer(row, 0)) - 1].value.merge(before) }
        }
        try connection.query(
            """
            INSERT INTO report_viewers AS kept (grouping, key, day, sketch) SELECT * FROM unnest($1, $2, $3, $4)
            ON CONFLICT (grouping, key, day) DO UPDATE SET sketch = excluded.sketch WHERE kept.sketch <> excluded.sketch
            """, .texts(merged.map(\.key.grouping)), .texts(merged.map(\.key.key.text)), .integers(merged.map(\.key.day)),
            .blobs(merged.map(\.value.bytes)))
    }

    /// Adds the estimates of different viewers.
    static func countViewers(in report: inout LedgerReport, of question: LedgerReport.Query, _ connection: PostgresConnection) throws {
        let grouping = question.groupings.first { $0 != .day } ?? .day
        for index in report.rows.indices {
            let (key, days) = ReportViewers.subject(report.rows[index], of: question)
            let found = try connection.query(
                "SELECT sketch FROM report_viewers WHERE grouping = $1 AND key = $2 AND day BETWEEN $3 AND $4", .text(grouping.rawValue),
                .text(key), .integer(days.lowerBound), .integer(days.upperBound))
            var all = UniqueViewersSketch()
            for row in 0..<found.count { if let sketch = UniqueViewersSketch(found.bytes(row, 0)) { all.merge(sketch) } }
            report.rows[index].viewers = all.estimate
        }
    }

    // MARK: Removing

    /// Removes the hours and sketches that are older than a moment.
    static func remove(before moment: Int64, _ connection: PostgresConnection) throws {
        let hourly = ReportTotals.Dimensions.allCases.filter(\.isHourly).map(\.rawValue)
        try connection.run([
            SQLCommand(
                "DELETE FROM report_total WHERE combination = ANY ($1) AND time < $2", [.integers(hourly), .integer(moment / 3_600_000)]),
            SQLCommand("DELETE FROM report_viewers WHERE day < $1", [.integer(moment / 86_400_000)]),
        ])
    }
}
