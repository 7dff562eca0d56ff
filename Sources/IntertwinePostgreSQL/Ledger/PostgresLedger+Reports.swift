internal import IntertwineFeed
internal import IntertwineStorageCore

/// Gathering what reports are made of.
extension PostgresLedger {
    /// The number of events that are read at once and added to totals in one transaction.
    private static let batch = 4_000
    /// The maximum number of events, and of subjects, between two writes of sketches.
    private static let sketched = (events: 100_000, subjects: 2_000)
    /// The number of sketches that are written at once.
    private static let sketchBatch = 32

    package func gatherTotals(withViewers: Bool) async throws {
        try await gatherCounts()
        if withViewers { try await gatherViewers() }
    }

    private func marker(of tally: PostgresReportTables.RollupCheckpoint) async throws -> Int64 {
        try await pool.run(for: .background) { try PostgresReportTables.marker(of: tally, $0) }
    }

    /// Adds all events so far to the totals.
    func gatherCounts() async throws {
        var marker = try await marker(of: .totals)
        let end = try await settledEnd()
        while case let events = try await events(after: marker, through: end, limit: Self.batch), let last = events.last?.sequence {
            var totals = ReportTotals()
            for event in events where event.event.verdict == .counted { totals.add(event.event) }
            let (before, gathered) = (marker, totals)
            marker = try await pool.run(for: .background) { connection in
                try connection.transaction {
                    // Another replica may have taken them.
                    let found = try PostgresReportTables.lock(.totals, connection)
                    guard found == before else { return found }
                    try PostgresReportTables.add(gathered, connection)
                    try PostgresReportTables.setMarker(of: .totals, to: last, connection)
                    return last
                }
            }
            // Events that arrive meanwhile are left to the next call. Why: under load, new events arrive constantly.
            if events.count < Self.batch, marker >= last { return }
        }
    }

    /// Adds all events so far to the sketches. What is added twice changes nothing.
    func gatherViewers() async throws {
        var marker = try await marker(of: .viewers)
        let settled = try await settledEnd()
        var isOver = false
        while !isOver {
            var (viewers, count) = (ReportViewers(), 0)
            let start = marker
            while count < Self.sketched.events, viewers.sketches.count < Self.sketched.subjects {
                let events = try await events(after: marker, through: settled, limit: Self.batch)
                guard let last = events.last?.sequence else {
                    isOver = true
                    break
                }
                for event in events where event.event.verdict == .counted { viewers.add(event.event) }
                count += events.count
                marker = last
                isOver = events.count < Self.batch
                if isOver { break }
            }
            guard marker > start else { return }
            let (sketches, end) = (Array(viewers.sketches), marker)
            try await pool.run(for: .background) { connection in
                try connection.transaction {
                    // One replica at a time merges.
                    _ = try PostgresReportTables.lock(.viewers, connection)
                    for first in stride(from: 0, to: sketches.count, by: Self.sketchBatch) {
                        try PostgresReportTables.merge(sketches[first..<min(first + Self.sketchBatch, sketches.count)], connection)
                    }
                    try PostgresReportTables.setMarker(of: .viewers, to: end, connection)
                }
            }
        }
    }
}
