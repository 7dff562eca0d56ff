internal import Glibc
package import IntertwineFeed
internal import IntertwineStorageCore

/// Queries of operators.
extension PostgresLedger {
    /// The counts of repetitions by other replicas may arrive a second later.
    package func report(_ question: LedgerReport.Query) async throws -> LedgerReport {
        if question.by == .choice { return try await pool.run(for: .background) { try Self.choices(question, $0) } }
        // Some are of totals that clicks write themselves.
        let isOfTotals = question.and != nil || !question.by.hasOwnTotals
        if isOfTotals { try await gatherCounts() } else { try await StoreError.wrapping { try await commits.flushCounts() } }
        if question.countsViewers { try await gatherViewers() }
        return try await pool.run(for: .background) { connection in
            var report = try isOfTotals ? PostgresReportTables.report(question, connection) : Self.rollups(question, connection)
            if question.countsViewers { try PostgresReportTables.countViewers(in: &report, of: question, connection) }
            return report
        }
    }

    private static func rollups(_ question: LedgerReport.Query, _ connection: PostgresConnection) throws -> LedgerReport {
        var values: [SQLValue] = [.integer(Int64(question.days.lowerBound)), .integer(Int64(question.days.upperBound))]
        if question.by == .ad {
            values += [.texts(question.prefixes.map { $0 + ":" }), .texts(question.prefixes.map { $0 + ";" })]
        }
        let found = try connection.run([SQLCommand(query(question.by), values)])[0]
        // Texts that Swift takes for equal are two groups to the database.
        var group: ByteString?
        var rows: [LedgerReport.Row] = []
        for row in 0..<found.count {
            let text = question.by == .day ? "\(found.integer(row, 0))" : found.text(row, 0)
            if ByteString(text) != group {
                group = ByteString(text)
                let key: LedgerReport.Key =
                    switch question.by {
                    case .day: .day(Int(found.integer(row, 0)))
                    case .ad: .ad(text)
                    default: .verdict(Verdict(rawValue: text) ?? .unknown)
                    }
                guard rows.count < LedgerReport.rowLimit else { throw LedgerReport.TooManyRowsError() }
                rows.append(LedgerReport.Row(key: key, counts: [:]))
            }
            rows[rows.count - 1].counts[LedgerEvent.Kind(rawValue: found.text(row, 1))] = Int(found.integer(row, 2))
        }
        return LedgerReport(rows: question.by.isOfVerdicts ? LedgerReport.judged(rows, by: question.by) : rows)
    }

    /// By choices, which are counted with their events.
    private static func choices(_ question: LedgerReport.Query, _ connection: PostgresConnection) throws -> LedgerReport {
        let day = question.and == .day ? "day" : "NULL::bigint"
        let found = try connection.query(
            """
            SELECT field, value, \(day), kind, sum(count)::bigint FROM rollup_choice WHERE day BETWEEN $1 AND $2
            GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
            """, .integer(Int64(question.days.lowerBound)), .integer(Int64(question.days.upperBound)))
        var report = LedgerReport(rows: [])
        for row in 0..<found.count {
            try report.add(
                Int(found.integer(row, 4)), of: LedgerEvent.Kind(rawValue: found.text(row, 3)),
                with: EventInput.Choice(found.text(row, 0), found.text(row, 1)), on: found.optionalInteger(row, 2).map { Int($0) })
        }
        return report
    }

    private static func query(_ grouping: LedgerReport.Grouping) -> String {
        switch grouping {
        case .day:
            """
            SELECT day, kind, sum(count)::bigint FROM rollup_day WHERE day BETWEEN $1 AND $2 AND verdict = 'counted'
            GROUP BY day, kind ORDER BY day, kind
            """
        case .verdict, .reason, .hour, .campaign, .advertiser, .creative, .feed, .section, .position, .choice:
            """
            SELECT verdict, kind, sum(count)::bigint FROM rollup_day WHERE day BETWEEN $1 AND $2
            GROUP BY verdict, kind ORDER BY verdict, kind
            """
        case .ad:
            // Reads day by day and prefix by prefix, because rows of ads are adjacent. Rows of other kinds are not read.
            """
            SELECT cell, kind, sum(count)::bigint
            FROM (SELECT DISTINCT day FROM rollup_day WHERE day BETWEEN $1 AND $2) AS days
            CROSS JOIN (SELECT DISTINCT * FROM unnest($3, $4)) AS prefixes (first, beyond)
            JOIN rollup_cell AS rollup
            ON rollup.day = days.day AND rollup.verdict = 'counted' AND rollup.cell >= prefixes.first AND rollup.cell < prefixes.beyond
            GROUP BY cell, kind ORDER BY cell, kind
            """
        }
    }

    package func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent] {
        try await events(after: marker, through: settledEnd(), limit: limit)
    }

    /// - Parameters:
    ///   - end: a ``settledEnd()``.
    ///   - isTrackedAlone: whether only those are wanted that `TrackerCalls` takes.
    func events(after marker: Int64, through end: Int64, limit: Int, isTrackedAlone: Bool = false) async throws -> [RecordedEvent] {
        let condition = isTrackedAlone ? " AND verdict = 'counted' AND creative IS NOT NULL AND kind IN ('impression', 'click')" : ""
        return try await pool.run(for: .background) { connection in
            let rows = try connection.query(
                """
                SELECT
                    id, at, kind, cell, viewer, address, user_agent, verdict, campaign, feed, section, position, layout, creative,
                    advertiser, input
                FROM event WHERE id > $1 AND id <= $2\(condition) ORDER BY id LIMIT $3
                """, .integer(marker), .integer(end), .integer(Int64(max(limit, 0))))
            return (0..<rows.count).map { row in
                let onPage = rows.optionalText(row, 12).flatMap(CellLayout.init).map { layout in
                    ImpressionContext(
                        campaign: rows.optionalText(row, 8), feed: rows.text(row, 9), section: rows.optionalText(row, 10),
                        position: Int(clamping: rows.integer(row, 11)), layout: layout)
                }
                let showing = onPage ?? rows.optionalText(row, 8).map { ImpressionContext(withoutPage: $0) }
                var event = LedgerEvent(
                    at: rows.integer(row, 1), kind: LedgerEvent.Kind(rawValue: rows.text(row, 2)), cell: rows.text(row, 3),
                    viewer: rows.optionalText(row, 4), address: rows.optionalText(row, 5), userAgent: rows.optionalText(row, 6),
                    verdict: Verdict(rawValue: rows.text(row, 7)) ?? .unknown, showing: showing)
                event.creative = rows.optionalText(row, 13).map { CreativeInfo(form: $0, advertiser: rows.optionalText(row, 14)) }
                event.input = rows.optionalText(row, 15).map { EventInput(json: $0) }
                return RecordedEvent(marker: rows.integer(row, 0), event: event)
            }
        }
    }

    /// See ``settledEnd(_:)``. It blocks appending sessions for a moment, so it is called once per read.
    func settledEnd() async throws -> Int64 {
        try await pool.run(for: .background) { try Self.settledEnd($0) }
    }

    /// Returns the last settled event number: events that are committed later have higher numbers.
    ///
    /// Numbers are assigned before the commit, and replicas commit in another order. All sessions that append share an advisory lock. A session
    /// that holds the lock exclusively knows that no event with an assigned number is uncommitted.
    private static func settledEnd(_ connection: PostgresConnection) throws -> Int64 {
        var attempt = 1
        while true {
            do {
                // One round trip: no event is appended while the lock is held.
                let answers = try connection.run([
                    SQLCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), SQLCommand("SET LOCAL lock_timeout = '100ms'"),
                    SQLCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                        [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.appending)]),
                    SQLCommand("SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_number"),
                    SQLCommand("COMMIT"),
                ])
                return answers[3].integer(0, 0)
            } catch {
                guard error.code == "55P03", attempt < 50 else { throw error }
                try connection.execute("ROLLBACK")
                attempt += 1
                // The pause lets sessions that waited behind this one take the lock.
                usleep(20_000)
            }
        }
    }

    package func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock {
        try await pool.run(for: .background) { connection in
            try connection.transaction {
                let rows = try connection.run([
                    SQLCommand("LOCK TABLE passed_time IN SHARE ROW EXCLUSIVE MODE"),
                    SQLCommand("SELECT reached, clock, doubted FROM passed_time"),
                    SQLCommand("SELECT at FROM event ORDER BY id DESC LIMIT 1"),
                ])
                let (stored, last) = (rows[1], rows[2])
                var time =
                    stored.isEmpty
                    ? RetentionClock(now: last.isEmpty ? clock : last.integer(0, 0), clock: clock)
                    : RetentionClock(now: stored.integer(0, 0), clock: stored.integer(0, 1), unconfirmed: stored.optionalInteger(0, 2))
                time.advance(to: clock, after: elapsed)
                try connection.query(
                    """
                    INSERT INTO passed_time (one, reached, clock, doubted) VALUES (1, $1, $2, $3)
                    ON CONFLICT (one) DO UPDATE SET reached = excluded.reached, clock = excluded.clock, doubted = excluded.doubted
                    """, .integer(time.now), .integer(time.clock), .integer(time.unconfirmed))
                return time
            }
        }
    }

    /// By whole days: an event goes with the last of its day.
    package func removeEvents(before moment: Int64) async throws -> Int {
        // Events must be in the totals before they are removed.
        try await gatherTotals(withViewers: true)
        try await pool.run(for: .background) { try PostgresReportTables.remove(before: moment, $0) }
        let over = try await pool.run(for: .background) { connection in
            try EventPartitions.all(connection).filter { EventPartitions.isOver($0, before: moment) }
        }
        var total = 0
        for day in over {
            var attempt = 1
            while true {
                let removed = try await pool.run(for: .background) { try EventPartitions.drop(day, $0) }
                total += removed ?? 0
                guard removed == nil else { break }
                guard attempt < 50 else { throw StoreError.unavailable("events of day \(day) are in use by another session") }
                attempt += 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        return total
    }

    package func erase(viewer: String, owners: [String]) async throws -> ErasedViewer {
        var erased = try await pool.run(for: .background) { connection in
            let rows = try connection.transaction {
                try connection.run([
                    SQLCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                        [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.of(viewer))]),
                    SQLCommand("DELETE FROM listing WHERE viewer = $1", [.text(viewer)]),
                    SQLCommand("DELETE FROM selection WHERE viewer = $1", [.text(viewer)]),
                    SQLCommand("DELETE FROM exposure WHERE viewer = $1", [.text(viewer)]),
                    SQLCommand("DELETE FROM idempotency WHERE owner = ANY ($1)", [.texts(owners)]),
                    SQLCommand("DELETE FROM claim WHERE viewer = $1", [.text(viewer)]),
                    SQLCommand("DELETE FROM given_page WHERE viewer = $1", [.text(viewer)]),
                ])
            }
            var erased = ErasedViewer()
            (erased.listed, erased.selections) = (rows[1].affected, rows[2].affected)
            (erased.exposures, erased.idempotencyKeys) = (rows[3].affected, rows[4].affected)
            return erased
        }
        var marker: Int64 = 0
        let last = try await settledEnd()
        while marker < last {
            let (start, end) = (marker, min(last, marker + 10_000))
            erased.events += try await pool.run(for: .background) { connection in
                try connection.query(
                    """
                    UPDATE event SET viewer = NULL, address = NULL, user_agent = NULL, input = NULL
                    WHERE id > $1 AND id <= $2 AND viewer = $3
                    """,
                    .integer(start), .integer(end), .text(viewer)
                ).affected
            }
            marker = end
        }
        return erased
    }
}
