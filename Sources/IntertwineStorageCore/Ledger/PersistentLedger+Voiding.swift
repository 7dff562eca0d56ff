package import IntertwineFeed

extension PersistentLedger {
    private var batch: Int64 { 1_000 }
    /// The slot of corrections, which no replica has.
    private var slot: Int64 { 1_024 }

    package func void(_ selection: EventSelection, isDryRun: Bool) async throws -> [EventSelection.VoidedCount] {
        // The events up to the marker are in the totals, from which the correction takes them. Later ones are more recent than the request.
        try await gatherCounts()
        let end = try await reading(for: .background) { try ReportTables.marker(of: .totals, $0) }
        var counts: [Row: Int] = [:]
        var marker: Int64 = 0
        while true {
            let (start, batch) = (marker, batch)
            let found = try await reading(for: .background) { session in
                try Self.counted(
                    "id > ?1 AND id <= ?2 AND at >= ?3 AND at < ?4", "ORDER BY id LIMIT ?5", session, .integer(start), .integer(end),
                    .integer(selection.time.lowerBound), .integer(selection.time.upperBound), .integer(batch))
            }
            guard let last = found.last else { break }
            marker = last.sequence
            var chosen = found.filter { selection.contains($0.event) }
            if !isDryRun, !chosen.isEmpty {
                let ids = chosen.map(\.sequence)
                let slot = slot
                // One request at a time, because two would take the same events back.
                chosen = try await writing(isDurable: true, .retention) { session in
                    let chosen = try Self.counted(
                        "id \(Session.dialect.isAny("?1"))", Session.dialect.locking("event"), session, .integers(ids))
                    try Self.void(chosen, slot: slot, session)
                    return chosen
                }
            }
            for one in chosen { counts[Row(one.event), default: 0] += 1 }
        }
        return counts.map { .init(campaign: $0.key.campaign, kind: $0.key.kind, events: $0.value) }.sorted {
            ($0.campaign, $0.kind) < ($1.campaign, $1.kind)
        }
    }

    private static func void(_ chosen: [RecordedEvent], slot: Int64, _ session: Session) throws {
        var (rollups, totals) = (Rollups(), ReportTotals())
        for one in chosen {
            rollups.count(one.event, as: .counted, -1, mayDefer: false)
            rollups.count(one.event, as: .voided, mayDefer: false)
            totals.add(one.event, count: -1)
            var correction = one.event
            correction.kind = one.event.kind.reported(as: .voided)
            totals.add(correction)
        }
        let ids: SQLValue = .integers(chosen.map(\.sequence))
        let isChosen = Session.dialect.isAny("?1")
        try session.run(
            [
                SQLCommand("UPDATE event SET verdict = 'voided' WHERE id \(isChosen)", [ids]),
                SQLCommand("DELETE FROM tracker_call WHERE event \(isChosen)", [ids]),
            ] + rollups.sums.commands(Session.dialect, slot: slot)
        ) { _, _ in }
        try ReportTables.add(totals, session)
    }

    private static func counted(
        _ condition: String, _ rest: String, _ session: Session, _ values: SQLValue...
    ) throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        try session.run([
            SQLCommand(
                """
                SELECT id, at, kind, cell, address, user_agent, campaign, feed, section, position, layout, creative, advertiser
                FROM event WHERE verdict = 'counted' AND creative IS NOT NULL AND input IS NULL AND \(condition) \(rest)
                """, values)
        ]) { _, row in
            var event = LedgerEvent(
                at: row.integer(1), kind: LedgerEvent.Kind(rawValue: row.text(2)), cell: row.text(3), address: row.optionalText(4),
                userAgent: row.optionalText(5))
            event.readPlacement(from: row, 6)
            events.append(RecordedEvent(marker: row.integer(0), event: event))
        }
        return events
    }
}

private struct Row: Hashable {
    let campaign: String
    let kind: String

    init(_ event: LedgerEvent) { (campaign, kind) = (event.impressionContext?.campaign ?? "", event.kind.rawValue) }
}
