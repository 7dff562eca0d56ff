internal import IntertwineFeed

extension LedgerReport {
    static func ofTotals(_ question: Query, _ session: some SQLSession) throws -> LedgerReport {
        let combination = ReportTotals.Dimensions(of: question.groupings)
        let length: Int64 = combination.isHourly ? 24 : 1
        let columns = question.groupings.map { column($0, isHourly: combination.isHourly) }
        let order = (1...columns.count + 1).map(String.init).joined(separator: ", ")
        var report = LedgerReport(rows: [])
        try session.run([
            SQLCommand(
                """
                SELECT \(columns.joined(separator: ", ")), kind, CAST(sum(count) AS bigint)
                FROM report_total LEFT JOIN report_ad ON report_ad.id = ad LEFT JOIN report_place ON report_place.id = place
                WHERE combination = ?1 AND time BETWEEN ?2 AND ?3 AND (ad <> 0 OR NOT ?4) GROUP BY \(order) ORDER BY \(order)
                """,
                [
                    .integer(combination.rawValue), .integer(Int64(question.days.lowerBound) &* length),
                    .integer((Int64(question.days.upperBound) &+ 1) &* length - 1),
                    .flag(question.groupings.contains(where: \.isOfAdvertisements)),
                ])
        ]) { _, row in
            let keys = question.groupings.enumerated().map { key($1, row, $0) }
            try report.add(Int(row.integer(columns.count + 1)), of: row.text(columns.count), to: keys)
        }
        return report
    }

    static func ofRollups<Session: SQLSession>(_ question: Query, _ session: Session) throws -> LedgerReport {
        let days: [SQLValue] = [.integer(Int64(question.days.lowerBound)), .integer(Int64(question.days.upperBound))]
        let command: SQLCommand
        switch question.by {
        case .day:
            command = SQLCommand(
                """
                SELECT day, \(reportedKind), CAST(sum(count) AS bigint) FROM rollup_day WHERE day BETWEEN ?1 AND ?2 AND \(isReported)
                GROUP BY 1, 2 ORDER BY 1, 2
                """, days)
        case .verdict, .reason, .hour, .campaign, .advertiser, .creative, .feed, .section, .position, .choice, .context:
            command = SQLCommand(
                """
                SELECT verdict, kind, CAST(sum(count) AS bigint) FROM rollup_day WHERE day BETWEEN ?1 AND ?2
                GROUP BY verdict, kind ORDER BY verdict, kind
                """, days)
        case .ad:
            // The query seeks by day and prefix, because the ads of each prefix are adjacent: it reads no cells of other kinds.
            let prefixes = Set(question.prefixes).sorted()
            command = SQLCommand(
                """
                SELECT cell, \(reportedKind), CAST(sum(count) AS bigint)
                FROM (SELECT DISTINCT day FROM rollup_day WHERE day BETWEEN ?3 AND ?4) AS days
                CROSS JOIN \(Session.dialect.table("prefixes", ["first", "beyond"])) JOIN rollup_cell AS rollup
                ON rollup.day = days.day AND \(isReported) AND rollup.cell >= prefixes.first AND rollup.cell < prefixes.beyond
                GROUP BY 1, 2 ORDER BY 1, 2
                """, [.texts(prefixes.map { $0 + ":" }), .texts(prefixes.map { $0 + ";" })] + days)
        }
        var report = LedgerReport(rows: [])
        try session.run([command]) { _, row in
            let key: Key =
                switch question.by {
                case .day: .day(Int(row.integer(0)))
                case .ad: .ad(row.text(0))
                default: .verdict(Verdict(rawValue: row.text(0)) ?? .unknown)
                }
            try report.add(Int(row.integer(2)), of: row.text(1), to: [key])
        }
        return question.by.isOfVerdicts ? LedgerReport(rows: judged(report.rows, by: question.by)) : report
    }

    static func ofChoices(_ question: Query, _ session: some SQLSession) throws -> LedgerReport {
        let day = question.and == .day ? "day" : "CAST(NULL AS bigint)"
        let (field, comparison) = question.by == .context ? ("substr(field, 2)", "=") : ("field", "<>")
        var report = LedgerReport(rows: [])
        try session.run([
            SQLCommand(
                """
                SELECT \(field), value, \(day), kind, CAST(sum(count) AS bigint) FROM rollup_choice
                WHERE day BETWEEN ?1 AND ?2 AND substr(field, 1, 1) \(comparison) ?3 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
                """,
                [
                    .integer(Int64(question.days.lowerBound)), .integer(Int64(question.days.upperBound)),
                    .text(EventInput.Choice.filterMark),
                ])
        ]) { _, row in
            try report.add(
                Int(row.integer(4)), of: Kind(rawValue: row.text(3)), with: EventInput.Choice(row.text(0), row.text(1)),
                on: row.optionalInteger(2).map { Int($0) })
        }
        return report
    }

    /// The events of reports: counted ones under their kind, others under a kind of their own.
    static let isReported = "verdict IN ('counted', 'surplus', 'voided')"
    static let reportedKind = "CASE verdict WHEN 'counted' THEN kind ELSE verdict || '-' || kind END"

    private typealias Kind = LedgerEvent.Kind

    private static func column(_ grouping: Grouping, isHourly: Bool) -> String {
        switch grouping {
        case .day, .verdict, .reason, .choice, .context: isHourly ? "time / 24" : "time"
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

    private static func key(_ grouping: Grouping, _ row: some SQLRow, _ column: Int) -> Key {
        switch grouping {
        case .day, .verdict, .reason, .choice, .context: .day(Int(row.integer(column)))
        case .hour: .hour(Int(row.integer(column)))
        case .ad: .ad(row.text(column))
        case .campaign, .creative, .advertiser, .feed, .section: .name(row.text(column))
        case .position: .position(row.integer(column) < 0 ? nil : Int(row.integer(column)))
        }
    }

    private mutating func add(_ count: Int, of kind: String, to keys: [Key]) throws {
        // Strings that are equal in Swift can be two groups in the database, so bytes are compared.
        let isSame = rows.last.map { last in zip(last.keys, keys).allSatisfy { ByteString($0.text) == ByteString($1.text) } } ?? false
        if !isSame {
            guard rows.count < Self.rowLimit else { throw TooManyRowsError() }
            rows.append(Row(key: keys[0], second: keys.count > 1 ? keys[1] : nil, counts: [:]))
        }
        rows[rows.count - 1].counts[Kind(rawValue: kind), default: 0] += count
    }
}
