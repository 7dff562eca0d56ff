package import IntertwineFeed

extension PersistentLedger {
    package func report(_ question: LedgerReport.Query) async throws -> LedgerReport {
        if question.by.isOfChoices { return try await reading(for: .background) { try LedgerReport.ofChoices(question, $0) } }
        // Some groupings have totals that are written with each click.
        let isOfTotals = question.and != nil || !question.by.hasOwnTotals
        if isOfTotals { try await gatherCounts() } else { try await flushCounts() }
        return try await reading(for: .background) {
            try isOfTotals ? LedgerReport.ofTotals(question, $0) : LedgerReport.ofRollups(question, $0)
        }
    }

    package func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent] {
        try await events(after: marker, through: settledEnd(), limit: limit)
    }

    package func markers() async throws -> (removed: Int64, last: Int64) {
        // The sequence has no wait for sessions that append.
        let last =
            Session.dialect.isPostgreSQL
            ? "CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_number" : "max(id) FROM event"
        return try await reading(for: .background) { session in
            let removed = try ReportTables.marker(of: .removed, session)
            return (removed, max(removed, try session.integer("SELECT \(last)") ?? 0))
        }
    }

    func events(after marker: Int64, through end: Int64, limit: Int, isTracked: Bool = false) async throws -> [RecordedEvent] {
        let condition = isTracked ? " AND verdict = 'counted'\(Self.isTracked)" : ""
        return try await reading(for: .background) { session in
            try session.rows(
                """
                SELECT
                    id, at, kind, cell, viewer, address, user_agent, verdict, campaign, feed, section, position, layout, creative,
                    advertiser, input
                FROM event WHERE id > ?1 AND id <= ?2\(condition) ORDER BY id LIMIT ?3
                """, .integer(marker), .integer(end), .integer(Int64(max(limit, 0)))
            ) { row in
                var event = LedgerEvent(
                    at: row.integer(1), kind: LedgerEvent.Kind(rawValue: row.text(2)), cell: row.text(3), viewer: row.optionalText(4),
                    address: row.optionalText(5), userAgent: row.optionalText(6), verdict: Verdict(rawValue: row.text(7)) ?? .unknown)
                event.readPlacement(from: row, 8)
                event.input = row.optionalText(15).map { EventInput(json: $0) }
                return RecordedEvent(marker: row.integer(0), event: event)
            }
        }
    }

    func alike(after marker: Int64, through end: Int64, isTracked: Bool = false, _ session: some SQLSession) throws -> [(
        LedgerEvent, Int64
    )] {
        let hour = isTracked ? "" : "at / 3600000, "
        let condition = isTracked ? "verdict = 'counted'\(Self.isTracked)" : LedgerReport.isReported
        return try session.rows(
            """
            SELECT min(at), \(LedgerReport.reportedKind), cell, campaign, feed, section, position, layout, creative, advertiser, count(*)
            FROM event WHERE id > ?1 AND id <= ?2 AND \(condition)
            GROUP BY \(hour)2, cell, campaign, feed, section, position, layout, creative, advertiser
            """, .integer(marker), .integer(end)
        ) { row in
            var event = LedgerEvent(at: row.integer(0), kind: LedgerEvent.Kind(rawValue: row.text(1)), cell: row.text(2))
            event.readPlacement(from: row, 3)
            return (event, row.integer(10))
        }
    }

    private static var isTracked: String { " AND creative IS NOT NULL AND kind IN ('impression', 'click')" }

    package func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock {
        try await writing(isDurable: true, .retention) { session in
            let stored = try session.first("SELECT reached, clock, doubted FROM passed_time") {
                RetentionClock(now: $0.integer(0), clock: $0.integer(1), unconfirmed: $0.optionalInteger(2))
            }
            let last = try session.integer("SELECT at FROM event WHERE id = (SELECT max(id) FROM event)")
            var time = stored ?? RetentionClock(now: last ?? clock, clock: clock)
            time.advance(to: clock, after: elapsed)
            let key = Session.dialect.isPostgreSQL ? "one" : "only"
            try session.write(
                """
                INSERT INTO passed_time (\(key), reached, clock, doubted) VALUES (1, ?1, ?2, ?3)
                ON CONFLICT (\(key)) DO UPDATE SET reached = excluded.reached, clock = excluded.clock, doubted = excluded.doubted
                """, .integer(time.now), .integer(time.clock), .integer(time.unconfirmed))
            return time
        }
    }

    package func removeEvents(before moment: Int64) async throws -> Int {
        // Events are added to the totals before they are removed.
        try await gatherCounts()
        try await removeReports(before: moment)
        return try await removeSettledEvents(before: moment)
    }

    package func eraseRows(of viewer: String, owners: [String]) async throws -> ErasedViewer {
        var erased = try await writing(isDurable: true, .viewer(viewer)) { session in
            let removals = ["listing", "selection", "exposure"].map { table in
                SQLCommand("DELETE FROM \(table) WHERE viewer = ?1", [.text(viewer)])
            }
            let keys = SQLCommand("DELETE FROM idempotency WHERE owner \(Session.dialect.isAny("?1"))", [.texts(owners)])
            let counts = try session.run(removals + [keys]) { _, _ in }
            var erased = ErasedViewer()
            (erased.listed, erased.selections, erased.exposures) = (counts[0], counts[1], counts[2])
            erased.idempotencyKeys = counts[removals.count]
            return erased
        }
        var marker: Int64 = 0
        let last = try await settledEnd()
        while marker < last {
            let (start, end) = (marker, min(last, marker + 10_000))
            // Readers search the events, which have no index by viewers: clicks wait for writes in SQLite.
            let ids = try await reading(for: .background) { session in
                try session.rows(
                    "SELECT id FROM event WHERE id > ?1 AND id <= ?2 AND viewer = ?3", .integer(start), .integer(end), .text(viewer)
                ) { $0.integer(0) }
            }
            for first in stride(from: 0, to: ids.count, by: 1_000) {
                let ids = Array(ids[first..<min(ids.count, first + 1_000)])
                erased.events += try await writing(isDurable: true, nil) { session in
                    try session.run([
                        SQLCommand(
                            """
                            UPDATE event SET viewer = NULL, address = NULL, user_agent = NULL, input = NULL
                            WHERE id \(Session.dialect.isAny("?1")) AND viewer = ?2
                            """, [.integers(ids), .text(viewer)])
                    ]) { _, _ in }.reduce(0, +)
                }
            }
            marker = end
        }
        return erased
    }
}

extension LedgerEvent {
    mutating func readPlacement(from row: some SQLRow, _ first: Int) {
        impressionContext = row.optionalText(first + 4).flatMap(CellLayout.init).map { layout in
            ImpressionContext(
                campaign: row.optionalText(first), feed: row.text(first + 1), section: row.optionalText(first + 2),
                position: Int(clamping: row.integer(first + 3)), layout: layout)
        }
        if impressionContext == nil { impressionContext = row.optionalText(first).map { ImpressionContext(withoutPage: $0) } }
        creative = row.optionalText(first + 5).map { CreativeInfo(form: $0, advertiser: row.optionalText(first + 6)) }
    }
}
