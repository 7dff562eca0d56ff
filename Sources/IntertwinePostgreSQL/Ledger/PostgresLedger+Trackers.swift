package import IntertwineFeed
internal import IntertwineStorageCore

/// Calls of trackers, each of which one replica at a time has.
extension PostgresLedger {
    /// Events that are looked at in one transaction.
    private static let trackedBatch = 1_000
    /// The number of stored abandoned calls; older ones are removed.
    private static let maxStoredFailures: Int64 = 10_000

    package func enqueueTrackerCalls(
        waiting: Int, now: Int64, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Int {
        var ousted = 0
        let end = try await settledEnd()
        while true {
            let marker = try await pool.run(for: .background) { try PostgresReportTables.marker(of: .trackers, $0) }
            guard marker < end else { return ousted }
            let events = try await events(after: marker, through: end, limit: Self.trackedBatch, isTrackedAlone: true)
            let last = events.count < Self.trackedBatch ? end : events.last?.sequence ?? end
            let made = try await calls(events.filter { TrackerCalls.isTracked($0.event) })
            let (isTaken, capacity) = try await pool.run(for: .background) { connection in
                try connection.transaction { () -> (Bool, Int) in
                    // Another replica may have taken them.
                    guard try PostgresReportTables.lock(.trackers, connection) == marker else { return (true, 0) }
                    var capacity = 0
                    if !made.isEmpty {
                        let before = try connection.query("SELECT count(*) FROM tracker_call WHERE given_up IS NULL").integer(0, 0)
                        let missing = before + Int64(made.count) - Int64(waiting)
                        if missing > 0 { capacity = try Self.makeRoom(for: missing, now: now, connection) }
                        guard before - Int64(capacity) < Int64(waiting) else { return (false, capacity) }
                        try Self.insert(made, connection)
                    }
                    try PostgresReportTables.setMarker(of: .trackers, to: last, connection)
                    return (true, capacity)
                }
            }
            ousted += capacity
            // Leaves the events to a later call if the queue is full. Events that arrive meanwhile also wait: under load, new ones arrive constantly.
            guard isTaken else { return ousted }
        }
    }

    /// Abandons failed calls, those with most attempts first, to make room for new ones. Calls that another session has locked are skipped.
    ///
    /// - Returns: The number of abandoned calls.
    private static func makeRoom(for count: Int64, now: Int64, _ connection: PostgresConnection) throws -> Int {
        let ousted = try connection.query(
            """
            UPDATE tracker_call SET given_up = $1 WHERE id IN (
                SELECT id FROM tracker_call WHERE given_up IS NULL AND failure IS NOT NULL ORDER BY attempts DESC, due DESC LIMIT $2
                FOR UPDATE SKIP LOCKED)
            RETURNING id
            """, .integer(now), .integer(count))
        if ousted.count > 0 { _ = try connection.run([removal]) }
        return ousted.count
    }

    /// Deletes all abandoned calls except the latest, up to `maxStoredFailures`.
    private static let removal = SQLCommand(
        """
        DELETE FROM tracker_call WHERE id IN (
            SELECT id FROM tracker_call WHERE given_up IS NOT NULL ORDER BY given_up DESC OFFSET $1)
        """, [.integer(maxStoredFailures)])

    private static func insert(_ calls: [TrackerCall], _ connection: PostgresConnection) throws {
        try connection.query(
            """
            INSERT INTO tracker_call (event, campaign, kind, url, at, due) SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
            ON CONFLICT (event, url) DO NOTHING
            """, .integers(calls.map(\.event)), .texts(calls.map(\.campaign)), .texts(calls.map(\.kind.rawValue)),
            .texts(calls.map(\.url)), .integers(calls.map(\.at)), .integers(calls.map(\.due)))
    }

    package func leaseTrackerCalls(_ limit: Int, now: Int64, lease: Int64) async throws -> [TrackerCall] {
        guard limit > 0 else { return [] }
        return try await pool.run(for: .background) { connection in
            try Self.calls(
                connection.query(
                    """
                    WITH taken AS (
                        SELECT \(Self.columns) FROM tracker_call WHERE given_up IS NULL AND due <= $1 ORDER BY due, id LIMIT $2
                        FOR UPDATE SKIP LOCKED),
                    leased AS (
                        UPDATE tracker_call SET due = $3, attempts = attempts + 1 WHERE id IN (SELECT id FROM taken))
                    SELECT \(Self.columns) FROM taken ORDER BY due, id
                    """, .integer(now), .integer(Int64(limit)), .integer(now &+ lease)))
        }
    }

    package func completeTrackerCalls(_ outcomes: [Int64: TrackerOutcome], now: Int64) async throws {
        guard !outcomes.isEmpty else { return }
        // Rows are locked in the order of their ids by every session that settles calls, which prevents deadlocks.
        let commands = outcomes.sorted { $0.key < $1.key }.map { id, outcome in
            switch outcome {
            case .succeeded: SQLCommand("DELETE FROM tracker_call WHERE id = $1", [.integer(id)])
            case .failed(let failure, let again):
                SQLCommand(
                    "UPDATE tracker_call SET due = $2, failure = $3 WHERE id = $1",
                    [.integer(id), .integer(again), .text(failure)])
            case .abandoned(let failure):
                SQLCommand(
                    "UPDATE tracker_call SET given_up = $2, failure = $3 WHERE id = $1",
                    [.integer(id), .integer(now), .text(failure)])
            case .untried(let again):
                SQLCommand(
                    "UPDATE tracker_call SET due = $2, attempts = greatest(0, attempts - 1) WHERE id = $1",
                    [.integer(id), .integer(again)])
            }
        }
        let isShorter = !outcomes.values.contains { if case .abandoned = $0 { true } else { false } }
        try await pool.run(for: .background) { connection in
            try connection.transaction { _ = try connection.run(commands + (isShorter ? [] : [Self.removal])) }
        }
    }

    package func trackerSummary() async throws -> TrackerSummary {
        try await pool.run(for: .background) { connection in
            let rows = try connection.query(
                """
                SELECT count(*) FILTER (WHERE given_up IS NULL), count(given_up), min(at) FILTER (WHERE given_up IS NULL) FROM tracker_call
                """)
            var summary = TrackerSummary()
            (summary.waiting, summary.givenUp) = (Int(rows.integer(0, 0)), Int(rows.integer(0, 1)))
            summary.oldest = rows.optionalInteger(0, 2)
            return summary
        }
    }

    package func trackerCalls(abandoned: Bool, limit: Int) async throws -> [TrackerCall] {
        try await pool.run(for: .background) { connection in
            let order = abandoned ? "given_up IS NOT NULL ORDER BY given_up DESC" : "given_up IS NULL ORDER BY due, id"
            return try Self.calls(
                connection.query("SELECT \(Self.columns) FROM tracker_call WHERE \(order) LIMIT $1", .integer(Int64(limit))))
        }
    }

    private static let columns = "id, event, campaign, kind, url, at, due, attempts, failure, given_up"

    private static func calls(_ rows: PostgresRows) -> [TrackerCall] {
        (0..<rows.count).map { row in
            var call = TrackerCall(
                event: rows.integer(row, 1), campaign: rows.text(row, 2), kind: LedgerEvent.Kind(rawValue: rows.text(row, 3)),
                url: rows.text(row, 4), at: rows.integer(row, 5), due: rows.integer(row, 6))
            call.id = rows.integer(row, 0)
            call.attempts = Int(rows.integer(row, 7))
            call.failure = rows.optionalText(row, 8)
            call.abandonedAt = rows.optionalInteger(row, 9)
            return call
        }
    }
}
