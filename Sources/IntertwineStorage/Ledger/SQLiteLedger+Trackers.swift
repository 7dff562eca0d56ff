import GRDB
package import IntertwineFeed

extension SQLiteLedger: TrackerLedger {
    /// The limit of events that are examined in one transaction.
    private static let batch = 1_000
    /// The limit of abandoned calls that are kept for reports; older ones are removed.
    private static let maxStoredFailures: Int64 = 10_000

    package func enqueueTrackerCalls(
        waiting: Int, now: Int64, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Int {
        let recent = try await commits.inTurn { $0.drainRecent(.trackers) }
        if let recent, try await passBy(recent, calls) { return 0 }
        var ousted = 0
        while true {
            let marker = try await read(for: .background) { try ReportTables.marker(of: .trackers, $0) }
            let events = try await events(after: marker, through: recent?.last ?? .max, limit: Self.batch)
            guard let last = events.last?.sequence else { return ousted }
            let inserted = try await calls(events.filter { TrackerCalls.isTracked($0.event) })
            let (isTaken, capacity) = try await StoreError.wrapping {
                try await commits.sweep { database -> (Bool, Int) in
                    // Another process may have queued the calls of these events.
                    guard try ReportTables.marker(of: .trackers, database) == marker else { return (true, 0) }
                    var capacity = 0
                    if !inserted.isEmpty {
                        let before =
                            try SQLStatement.integer(database, "SELECT count(*) FROM tracker_call WHERE given_up IS NULL AND due >= 0") ?? 0
                        let missing = before + Int64(inserted.count) - Int64(waiting)
                        if missing > 0 { capacity = try Self.makeRoom(for: missing, now: now, database) }
                        guard before - Int64(capacity) < Int64(waiting) else { return (false, capacity) }
                        try Self.insert(inserted, database)
                    }
                    try ReportTables.setMarker(of: .trackers, to: last, database)
                    return (true, capacity)
                }
            }
            ousted += capacity
            guard isTaken else { return ousted }
        }
    }

    private static func makeRoom(for count: Int64, now: Int64, _ database: Database) throws -> Int {
        try SQLStatement.run(
            database,
            """
            UPDATE tracker_call SET given_up = ?1 WHERE id IN (
                SELECT id FROM tracker_call WHERE given_up IS NULL AND due >= 0 AND failure IS NOT NULL ORDER BY attempts DESC, due DESC LIMIT ?2)
            """, .integer(now), .integer(count))
        let capacity = database.changesCount
        if capacity > 0 { try forgetFailures(database) }
        return capacity
    }

    /// Removes all abandoned calls except the latest.
    private static func forgetFailures(_ database: Database) throws {
        try SQLStatement.run(
            database,
            """
            DELETE FROM tracker_call WHERE id IN (
                SELECT id FROM tracker_call WHERE given_up >= 0 ORDER BY given_up DESC LIMIT -1 OFFSET ?1)
            """, .integer(maxStoredFailures))
    }

    /// Advances the marker without reading events, and returns true, if no tracker is called for the events that this process has written.
    ///
    /// Most ads have no trackers. The trackers of an event depend only on its counted properties, so one event of each group suffices.
    private func passBy(
        _ recent: EventTail, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Bool {
        let events = recent.counted.map { RecordedEvent(marker: recent.last, event: $0.event) }
        guard try await calls(events.filter { TrackerCalls.isTracked($0.event) }).isEmpty else { return false }
        return try await StoreError.wrapping {
            try await commits.sweep { database in
                guard try ReportTables.marker(of: .trackers, database) == recent.after else { return false }
                try ReportTables.setMarker(of: .trackers, to: recent.last, database)
                return true
            }
        }
    }

    private static func insert(_ calls: [TrackerCall], _ database: Database) throws {
        let insert = try SQLStatement(
            database, "INSERT OR IGNORE INTO tracker_call (event, campaign, kind, url, at, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        for call in calls {
            try insert.bind(1, call.event)
            try insert.bind(2, call.campaign)
            try insert.bind(3, call.kind.rawValue)
            try insert.bind(4, call.url)
            try insert.bind(5, call.at)
            try insert.bind(6, call.due)
            try insert.run()
        }
    }

    package func leaseTrackerCalls(_ limit: Int, now: Int64, lease: Int64) async throws -> [TrackerCall] {
        // Most of the time no call is due, and nothing is written.
        let next = try await read(for: .background) { database in
            try SQLStatement.integer(
                database, "SELECT due FROM tracker_call WHERE given_up IS NULL AND due <= ?1 ORDER BY due LIMIT 1", .integer(now))
        }
        guard next != nil, limit > 0 else { return [] }
        return try await StoreError.wrapping {
            try await commits.sweep { database in
                let find = try SQLStatement(
                    database,
                    """
                    SELECT \(Self.columns) FROM tracker_call WHERE given_up IS NULL AND due <= ?1 ORDER BY due LIMIT ?2
                    """)
                try find.bind(1, now)
                try find.bind(2, Int64(limit))
                let calls = try Self.calls(find)
                for call in calls {
                    try SQLStatement.run(
                        database, "UPDATE tracker_call SET due = ?2, attempts = attempts + 1 WHERE id = ?1", .integer(call.id),
                        .integer(now &+ lease))
                }
                return calls
            }
        }
    }

    package func completeTrackerCalls(_ outcomes: [Int64: TrackerOutcome], now: Int64) async throws {
        guard !outcomes.isEmpty else { return }
        try await StoreError.wrapping {
            try await commits.sweep { database in
                for (id, outcome) in outcomes {
                    switch outcome {
                    case .succeeded: try SQLStatement.run(database, "DELETE FROM tracker_call WHERE id = ?1", .integer(id))
                    case .failed(let failure, let again):
                        try SQLStatement.run(
                            database, "UPDATE tracker_call SET due = ?2, failure = ?3 WHERE id = ?1", .integer(id), .integer(again),
                            .text(failure))
                    case .abandoned(let failure):
                        try SQLStatement.run(
                            database, "UPDATE tracker_call SET given_up = ?2, failure = ?3 WHERE id = ?1", .integer(id), .integer(now),
                            .text(failure))
                    case .untried(let again):
                        try SQLStatement.run(
                            database, "UPDATE tracker_call SET due = ?2, attempts = max(0, attempts - 1) WHERE id = ?1", .integer(id),
                            .integer(again))
                    }
                }
                guard outcomes.values.contains(where: { if case .abandoned = $0 { true } else { false } }) else { return }
                try Self.forgetFailures(database)
            }
        }
    }

    package func trackerSummary() async throws -> TrackerSummary {
        try await read(for: .background) { database in
            var summary = TrackerSummary()
            summary.waiting = Int(
                try SQLStatement.integer(database, "SELECT count(*) FROM tracker_call WHERE given_up IS NULL AND due >= 0") ?? 0)
            summary.givenUp = Int(
                try SQLStatement.integer(database, "SELECT count(*) FROM tracker_call WHERE given_up >= 0") ?? 0)
            summary.oldest = try SQLStatement.integer(
                database, "SELECT min(at) FROM tracker_call WHERE given_up IS NULL AND due >= 0")
            return summary
        }
    }

    package func trackerCalls(abandoned: Bool, limit: Int) async throws -> [TrackerCall] {
        try await read(for: .background) { database in
            let find = try SQLStatement(
                database,
                abandoned
                    ? "SELECT \(Self.columns) FROM tracker_call WHERE given_up >= 0 ORDER BY given_up DESC LIMIT ?1"
                    : "SELECT \(Self.columns) FROM tracker_call WHERE given_up IS NULL AND due >= 0 ORDER BY due LIMIT ?1")
            try find.bind(1, Int64(limit))
            return try Self.calls(find)
        }
    }

    private static let columns = "id, event, campaign, kind, url, at, due, attempts, failure, given_up"

    private static func calls(_ statement: SQLStatement) throws -> [TrackerCall] {
        defer { statement.reset() }
        var calls: [TrackerCall] = []
        while try statement.step() {
            var call = TrackerCall(
                event: statement.integer(1), campaign: statement.text(2), kind: LedgerEvent.Kind(rawValue: statement.text(3)),
                url: statement.text(4), at: statement.integer(5), due: statement.integer(6))
            call.id = statement.integer(0)
            call.attempts = Int(statement.integer(7))
            call.failure = statement.optionalText(8)
            call.abandonedAt = statement.isNull(9) ? nil : statement.integer(9)
            calls.append(call)
        }
        return calls
    }
}
