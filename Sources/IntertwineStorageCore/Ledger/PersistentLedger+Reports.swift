internal import IntertwineFeed

extension PersistentLedger {
    /// The limit of events that are read at once and added in one transaction: some thousand rows, which delay clicks by a few milliseconds.
    private var batch: Int64 { 4_000 }

    package func gatherTotals() async throws { try await gatherCounts(isUrgent: false) }

    func gatherCounts(isUrgent: Bool = true) async throws {
        let end = try await settledEnd()
        while true {
            let began = ContinuousClock.now
            let batch = batch
            let found = try await reading(for: .background) { session -> (marker: Int64, last: Int64, totals: ReportTotals)? in
                let marker = try ReportTables.marker(of: .totals, session)
                let last = try session.integer(
                    "SELECT max(id) FROM (SELECT id FROM event WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3) AS batch",
                    .integer(marker), .integer(end), .integer(batch))
                guard let last else { return nil }
                var totals = ReportTotals()
                for (event, count) in try alike(after: marker, through: last, session) { totals.add(event, count: count) }
                return (marker, last, totals)
            }
            guard let found else { return }
            // Another process may have added these events.
            try await writing(isDurable: false, nil) { session in
                guard try ReportTables.marker(of: .totals, locks: true, session) == found.marker else { return }
                try ReportTables.add(found.totals, session)
                try ReportTables.setMarker(of: .totals, to: found.last, session)
            }
            if !isUrgent { try await Task.sleep(for: began.duration(to: .now)) }
        }
    }

    func removeReports(before moment: Int64) async throws {
        while try await writing(isDurable: false, nil, { try ReportTables.removeSome(before: moment, $0) }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
