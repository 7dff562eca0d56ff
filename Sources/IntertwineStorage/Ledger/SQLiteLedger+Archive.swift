import GRDB
package import IntertwineFeed

extension SQLiteLedger: LedgerArchive {
    package func report(_ question: LedgerReport.Query) async throws -> LedgerReport {
        if question.by == .choice { return try await read(for: .background) { try Self.choices(question, $0) } }
        // Some groupings have totals that are written with each click.
        let isOfTotals = question.and != nil || !question.by.hasOwnTotals
        try await StoreError.wrapping {
            if isOfTotals { try await gatherCounts() } else { try await commits.flushCounts() }
            if question.countsViewers { try await gatherViewers() }
        }
        return try await read(for: .background) { database in
            var report = try isOfTotals ? Self.totals(question, database) : Self.rollups(question, database)
            if question.countsViewers { try Self.countViewers(in: &report, of: question, database) }
            return report
        }
    }

    private static func rollups(_ question: LedgerReport.Query, _ database: any SQLConnection) throws -> LedgerReport {
        let (days, grouping, prefixes) = (question.days, question.by, question.prefixes)
        let statement = try SQLStatement(database, Self.query(grouping, prefixes: prefixes.count))
        defer { statement.reset() }
        try statement.bind(1, Int64(days.lowerBound))
        try statement.bind(2, Int64(days.upperBound))
        if grouping == .ad {
            for (prefix, index) in zip(prefixes, stride(from: Int32(3), to: .max, by: 2)) {
                try statement.bind(index, prefix + ":")
                try statement.bind(index + 1, prefix + ";")
            }
        }
        // Strings that are equal in Swift can be two groups in the database, so bytes are compared.
        var group: ByteString?
        var rows: [LedgerReport.Row] = []
        while try statement.step() {
            let key: LedgerReport.Key
            switch grouping {
            case .day: key = .day(Int(statement.integer(0)))
            case .ad: key = .ad(statement.text(0))
            default: key = .verdict(Verdict(rawValue: statement.text(0)) ?? .unknown)
            }
            if ByteString(statement.text(0)) != group {
                group = ByteString(statement.text(0))
                guard rows.count < LedgerReport.rowLimit else { throw LedgerReport.TooManyRowsError() }
                rows.append(LedgerReport.Row(key: key, counts: [:]))
            }
            rows[rows.count - 1].counts[LedgerEvent.Kind(rawValue: statement.text(1))] = Int(statement.integer(2))
        }
        return LedgerReport(rows: grouping.isOfVerdicts ? LedgerReport.judged(rows, by: grouping) : rows)
    }

    /// Returns a report by choices, which are counted with their events.
    private static func choices(_ question: LedgerReport.Query, _ database: any SQLConnection) throws -> LedgerReport {
        let day = question.and == .day ? "day" : "NULL"
        let statement = try SQLStatement(
            database,
            """
            SELECT field, value, \(day), kind, sum(count) FROM rollup_choice WHERE day BETWEEN ?1 AND ?2
            GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
            """)
        defer { statement.reset() }
        try statement.bind(1, Int64(question.days.lowerBound))
        try statement.bind(2, Int64(question.days.upperBound))
        var report = LedgerReport(rows: [])
        while try statement.step() {
            try report.add(
                Int(statement.integer(4)), of: LedgerEvent.Kind(rawValue: statement.text(3)),
                with: EventInput.Choice(statement.text(0), statement.text(1)), on: statement.isNull(2) ? nil : Int(statement.integer(2)))
        }
        return report
    }

    private static func query(_ grouping: LedgerReport.Grouping, prefixes: Int) -> String {
        let placeholders = (0..<prefixes).map { "(?\($0 * 2 + 3), ?\($0 * 2 + 4))" }.joined(separator: ", ")
        return switch grouping {
        case .day:
            """
            SELECT day, kind, sum(count) FROM rollup_day WHERE day BETWEEN ?1 AND ?2 AND verdict = 'counted'
            GROUP BY day, kind ORDER BY day
            """
        case .verdict, .reason, .hour, .campaign, .advertiser, .creative, .feed, .section, .position, .choice:
            "SELECT verdict, kind, sum(count) FROM rollup_day WHERE day BETWEEN ?1 AND ?2 GROUP BY verdict, kind ORDER BY verdict"
        case .ad:
            // The query seeks by day and prefix, because the ads of each prefix are adjacent: it reads no cells of other kinds.
            """
            WITH days AS (SELECT DISTINCT day FROM rollup_day WHERE day BETWEEN ?1 AND ?2),
            prefixes (first, beyond) AS (\(prefixes == 0 ? "SELECT NULL, NULL" : "VALUES " + placeholders))
            SELECT cell, kind, sum(count) FROM days CROSS JOIN prefixes CROSS JOIN rollup_cell AS rollup
            ON rollup.day = days.day AND rollup.verdict = 'counted' AND rollup.cell >= prefixes.first AND rollup.cell < prefixes.beyond
            GROUP BY cell, kind ORDER BY cell
            """
        }
    }

    package func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent] {
        try await events(after: marker, through: .max, limit: limit)
    }

    func events(after marker: Int64, through end: Int64, limit: Int) async throws -> [RecordedEvent] {
        try await read(for: .background) { database in
            let statement = try SQLStatement(
                database,
                """
                SELECT
                    id, at, kind, cell, viewer, address, user_agent, verdict, campaign, feed, section, position, layout, creative,
                    advertiser, input
                FROM event WHERE id > ?1 AND id <= ?3 ORDER BY id LIMIT ?2
                """)
            defer { statement.reset() }
            try statement.bind(1, marker)
            try statement.bind(2, Int64(max(limit, 0)))
            try statement.bind(3, end)
            var events: [RecordedEvent] = []
            while try statement.step() {
                var event = LedgerEvent(
                    at: statement.integer(1), kind: LedgerEvent.Kind(rawValue: statement.text(2)), cell: statement.text(3),
                    viewer: statement.optionalText(4), address: statement.optionalText(5), userAgent: statement.optionalText(6),
                    verdict: Verdict(rawValue: statement.text(7)) ?? .unknown)
                event.readPlacement(from: statement, 8)
                event.input = statement.optionalText(15).map { EventInput(json: $0) }
                events.append(RecordedEvent(marker: statement.integer(0), event: event))
            }
            return events
        }
    }

    package func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock {
        try await StoreError.wrapping {
            try await commits.write { database in
                var time = try Self.passedTime(database) ?? RetentionClock(now: Self.lastEvent(database) ?? clock, clock: clock)
                time.advance(to: clock, after: elapsed)
                let store = try SQLStatement(
                    database, "INSERT OR REPLACE INTO passed_time (only, reached, clock, doubted) VALUES (1, ?1, ?2, ?3)")
                try store.bind(1, time.now)
                try store.bind(2, time.clock)
                try store.bind(3, time.unconfirmed)
                try store.run()
                return time
            }
        }
    }

    private static func passedTime(_ database: any SQLConnection) throws -> RetentionClock? {
        let statement = try SQLStatement(database, "SELECT reached, clock, doubted FROM passed_time WHERE only = 1")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return RetentionClock(
            now: statement.integer(0), clock: statement.integer(1), unconfirmed: statement.isNull(2) ? nil : statement.integer(2))
    }

    /// Returns the time of the last event in milliseconds since 1970-01-01 UTC.
    private static func lastEvent(_ database: any SQLConnection) throws -> Int64? {
        try SQLStatement.integer(database, "SELECT at FROM event WHERE id = (SELECT max(id) FROM event)")
    }

    package func removeEvents(before moment: Int64) async throws -> Int {
        // Events are added to the totals before they are removed.
        try await StoreError.wrapping {
            try await gatherCounts(before: moment)
            try await gatherViewers(before: moment)
        }
        try await removeReports(before: moment)
        var total = 0
        var walked: Int64 = 0
        var units = statistics.units
        while true {
            let (window, now) = (EventWindow(after: walked), now())
            guard let swept = try await StoreError.wrapping({ try await commits.sweep { try window.remove(before: moment, now: now, $0) } })
            else { return total }
            total += swept.removed
            walked = swept.last
            guard swept.removed > 0 || swept.isClockAhead else { return total }
            // The rate beside clicks is about 10,000 rows a second: millions of rows take minutes, and few clicks wait for a checkpoint.
            let written = statistics.units
            try await Task.sleep(for: written == units ? .milliseconds(1) : .milliseconds(20))
            units = written
        }
    }
}

/// A range of events that is short enough not to delay clicks.
private struct EventWindow {
    private static let length = 250

    /// The marker after which the range begins.
    let after: Int64

    struct Swept {
        var removed: Int
        /// The marker of the last event of the range.
        var last: Int64
        /// A Boolean value indicating whether an event is in the future. The clock was ahead then, and older events may follow.
        var isClockAhead: Bool
    }

    /// Removes events before a time; nil if there is no event after the marker.
    func remove(before moment: Int64, now: Int64, _ database: Database) throws -> Swept? {
        let find = try SQLStatement(
            database, "SELECT max(id), max(at) FROM (SELECT id, at FROM event WHERE id > ?1 ORDER BY id LIMIT ?2)")
        try find.bind(1, after)
        try find.bind(2, Int64(Self.length))
        let found = try find.step() && !find.isNull(0) ? (last: find.integer(0), newest: find.integer(1)) : nil
        find.reset()
        guard let found else { return nil }
        try SQLStatement(database, LedgerSchema.saveSequence).run()
        let remove = try SQLStatement(database, "DELETE FROM event WHERE id > ?1 AND id <= ?2 AND at < ?3")
        try remove.bind(1, after)
        try remove.bind(2, found.last)
        try remove.bind(3, moment)
        try remove.run()
        return Swept(removed: database.changesCount, last: found.last, isClockAhead: found.newest > now)
    }
}

extension LedgerEvent {
    /// Reads the impression context and the creative from seven columns: campaign, feed, section, position, layout, creative, advertiser.
    mutating func readPlacement(from statement: SQLStatement, _ first: Int) {
        showing = statement.optionalText(first + 4).flatMap(CellLayout.init).map { layout in
            ImpressionContext(
                campaign: statement.optionalText(first), feed: statement.text(first + 1), section: statement.optionalText(first + 2),
                position: Int(clamping: statement.integer(first + 3)), layout: layout)
        }
        if showing == nil { showing = statement.optionalText(first).map { ImpressionContext(withoutPage: $0) } }
        creative = statement.optionalText(first + 5).map { CreativeInfo(form: $0, advertiser: statement.optionalText(first + 6)) }
    }
}
