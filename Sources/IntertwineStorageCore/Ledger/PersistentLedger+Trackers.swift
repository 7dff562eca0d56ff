package import IntertwineFeed

extension PersistentLedger {
    private var batch: (calls: Int, events: Int64) { (1_000, 10_000) }

    package func enqueueTrackerCalls(
        waiting: Int, now: Int64, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Int {
        let end = try await settledEnd()
        var abandoned = 0
        while true {
            let marker = try await reading(for: .background) { try ReportTables.marker(of: .trackers, $0) }
            guard marker < end else { return abandoned }
            let through = min(end, marker + batch.events)
            // Most ads have no trackers. The trackers of an event depend only on its counted properties, so one event of each group suffices.
            let groups = try await reading(for: .background) { try alike(after: marker, through: through, isTracked: true, $0) }
            let sample = groups.map { RecordedEvent(marker: through, event: $0.0) }
            if try await calls(sample.filter { TrackerCalls.isTracked($0.event) }).isEmpty {
                try await writing(isDurable: false, nil) { session in
                    guard try ReportTables.marker(of: .trackers, locks: true, session) == marker else { return }
                    try ReportTables.setMarker(of: .trackers, to: through, session)
                }
                continue
            }
            let events = try await events(after: marker, through: through, limit: batch.calls, isTracked: true)
            let last = events.count < batch.calls ? through : events.last?.sequence ?? through
            let made = try await calls(events.filter { TrackerCalls.isTracked($0.event) })
            // The lock excludes corrections: an event that is voided after it was read has no call.
            let (isTaken, room) = try await writing(isDurable: false, .retention) { session -> (Bool, Int) in
                // Another process may have queued the calls of these events.
                guard try ReportTables.marker(of: .trackers, locks: true, session) == marker else { return (true, 0) }
                var room = 0
                let made = made.isEmpty ? [] : try TrackerCallTable.counted(made, session)
                if !made.isEmpty {
                    let before = try session.integer("SELECT count(*) FROM tracker_call WHERE \(TrackerCallTable.isWaiting)") ?? 0
                    let missing = before + Int64(made.count) - Int64(waiting)
                    if missing > 0 { room = try TrackerCallTable.makeRoom(for: missing, now: now, session) }
                    guard before - Int64(room) < Int64(waiting) else { return (false, room) }
                    try TrackerCallTable.insert(made, session)
                }
                try ReportTables.setMarker(of: .trackers, to: last, session)
                return (true, room)
            }
            abandoned += room
            // The events wait if the queue is full.
            guard isTaken else { return abandoned }
        }
    }

    /// Leases due calls, so that no other process sends them during the lease (milliseconds).
    package func leaseTrackerCalls(_ limit: Int, now: Int64, lease: Int64) async throws -> [TrackerCall] {
        // Most of the time no call is due, and nothing is written.
        let next = try await reading(for: .background) { session in
            try session.integer("SELECT due FROM tracker_call WHERE given_up IS NULL AND due <= ?1 ORDER BY due LIMIT 1", .integer(now))
        }
        guard next != nil, limit > 0 else { return [] }
        return try await writing(isDurable: false, nil) { session in
            let calls = try TrackerCallTable.calls(
                "given_up IS NULL AND due <= ?1 ORDER BY due, id LIMIT ?2\(Session.dialect.skipLocked)",
                [.integer(now), .integer(Int64(limit))], session)
            try session.write(
                "UPDATE tracker_call SET due = ?2, attempts = attempts + 1 WHERE id \(Session.dialect.isAny("?1"))",
                .integers(calls.map(\.id)), .integer(now &+ lease))
            return calls
        }
    }

    package func completeTrackerCalls(_ outcomes: [Int64: TrackerOutcome], now: Int64) async throws {
        guard !outcomes.isEmpty else { return }
        // Rows are locked in the order of their ids by every session that settles calls, which prevents deadlocks.
        let commands = outcomes.sorted { $0.key < $1.key }.map { id, outcome in
            switch outcome {
            case .succeeded: SQLCommand("DELETE FROM tracker_call WHERE id = ?1", [.integer(id)])
            case .failed(let failure, let again):
                SQLCommand(
                    "UPDATE tracker_call SET due = ?2, failure = ?3 WHERE id = ?1", [.integer(id), .integer(again), .text(failure)])
            case .abandoned(let failure):
                SQLCommand(
                    "UPDATE tracker_call SET given_up = ?2, failure = ?3 WHERE id = ?1", [.integer(id), .integer(now), .text(failure)])
            case .untried(let again):
                SQLCommand(
                    "UPDATE tracker_call SET due = ?2, attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END WHERE id = ?1",
                    [.integer(id), .integer(again)])
            }
        }
        let isLonger = outcomes.values.contains { if case .abandoned = $0 { true } else { false } }
        try await writing(isDurable: false, nil) { session in
            _ = try session.run(commands + (isLonger ? [TrackerCallTable.removal] : [])) { _, _ in }
        }
    }

    package func trackerSummary() async throws -> TrackerSummary {
        try await reading(for: .background) { session in
            var summary = TrackerSummary()
            summary.waiting = Int(try session.integer("SELECT count(*) FROM tracker_call WHERE \(TrackerCallTable.isWaiting)") ?? 0)
            summary.givenUp = Int(try session.integer("SELECT count(*) FROM tracker_call WHERE \(TrackerCallTable.isAbandoned)") ?? 0)
            summary.oldest = try session.integer("SELECT min(at) FROM tracker_call WHERE \(TrackerCallTable.isWaiting)")
            return summary
        }
    }

    package func trackerCalls(abandoned: Bool, limit: Int) async throws -> [TrackerCall] {
        let order =
            abandoned ? "\(TrackerCallTable.isAbandoned) ORDER BY given_up DESC" : "\(TrackerCallTable.isWaiting) ORDER BY due, id"
        return try await reading(for: .background) { try TrackerCallTable.calls("\(order) LIMIT ?1", [.integer(Int64(limit))], $0) }
    }
}

private enum TrackerCallTable {
    /// The conditions contain the key of an index, through which SQLite counts.
    static let isWaiting = "given_up IS NULL AND due >= 0"
    static let isAbandoned = "given_up >= 0"

    static let removal = SQLCommand(
        """
        DELETE FROM tracker_call WHERE id IN (SELECT id FROM tracker_call WHERE \(isAbandoned) ORDER BY given_up DESC LIMIT ?2 OFFSET ?1)
        """, [.integer(10_000), .integer(.max)])

    static func makeRoom<Session: SQLSession>(for count: Int64, now: Int64, _ session: Session) throws -> Int {
        let abandoned = try session.write(
            """
            UPDATE tracker_call SET given_up = ?1 WHERE id IN (
                SELECT id FROM tracker_call WHERE \(isWaiting) AND failure IS NOT NULL ORDER BY attempts DESC, due DESC LIMIT ?2
                \(Session.dialect.skipLocked))
            """, .integer(now), .integer(count))
        if abandoned > 0 { try session.run([removal]) { _, _ in } }
        return abandoned
    }

    static func counted<Session: SQLSession>(_ calls: [TrackerCall], _ session: Session) throws -> [TrackerCall] {
        let counted = Set(
            try session.rows(
                "SELECT id FROM event WHERE verdict = 'counted' AND id \(Session.dialect.isAny("?1"))", .integers(calls.map(\.event))
            ) { $0.integer(0) })
        return calls.filter { counted.contains($0.event) }
    }

    static func insert<Session: SQLSession>(_ calls: [TrackerCall], _ session: Session) throws {
        try session.write(
            """
            INSERT INTO tracker_call (event, campaign, kind, url, at, due) \(Session.dialect.values(6))
            ON CONFLICT (event, url) DO NOTHING
            """, .integers(calls.map(\.event)), .texts(calls.map(\.campaign)), .texts(calls.map(\.kind.rawValue)),
            .texts(calls.map(\.url)), .integers(calls.map(\.at)), .integers(calls.map(\.due)))
    }

    static func calls(_ condition: String, _ values: [SQLValue], _ session: some SQLSession) throws -> [TrackerCall] {
        var calls: [TrackerCall] = []
        try session.run([
            SQLCommand(
                """
                SELECT id, event, campaign, kind, url, at, due, attempts, failure, given_up FROM tracker_call WHERE \(condition)
                """, values)
        ]) { _, row in
            var call = TrackerCall(
                event: row.integer(1), campaign: row.text(2), kind: LedgerEvent.Kind(rawValue: row.text(3)), url: row.text(4),
                at: row.integer(5), due: row.integer(6))
            call.id = row.integer(0)
            call.attempts = Int(row.integer(7))
            call.failure = row.optionalText(8)
            call.abandonedAt = row.optionalInteger(9)
            calls.append(call)
        }
        return calls
    }
}
