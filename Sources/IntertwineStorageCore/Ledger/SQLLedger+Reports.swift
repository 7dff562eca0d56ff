internal import IntertwineFeed

extension SQLLedger {
    /// The limit of events that are read at once and added in one transaction: some thousand rows, which delay clicks by a few milliseconds.
    private var batch: Int { 4_000 }

    package func gatherTotals() async throws { try await gatherCounts(isUrgent: false) }

    private func marker(of checkpoint: ReportCheckpoint) async throws -> Int64 {
        try await reading(for: .background) { try ReportTables.marker(of: checkpoint, $0) }
    }

    func gatherCounts(isUrgent: Bool = true) async throws {
        let settled = try await settledEnd()
        // This process has already added up its own events. Other processes may have written later events.
        let recent = try await drainRecent(.totals)
        if let recent, try await apply(recent), recent.last >= settled { return }
        let end = max(settled, recent?.last ?? 0)
        let batch = batch
        var marker = try await marker(of: .totals)
        while true {
            let began = ContinuousClock.now
            let before = marker
            let found = try await reading(for: .background) { session in
                try EventBatch(after: before, through: end, limit: batch, session).map { ($0.last, try $0.totals(session)) }
            }
            guard let (last, totals) = found else { return }
            let isTaken = try await add(totals, after: before, through: last)
            marker = isTaken ? last : try await self.marker(of: .totals)
            if !isUrgent { try await Task.sleep(for: began.duration(to: .now)) }
        }
    }

    private func apply(_ recent: EventTail) async throws -> Bool {
        var totals = ReportTotals()
        for (event, count) in recent.counted { totals.add(event, count: count) }
        return try await add(totals, after: recent.after, through: recent.last)
    }

    /// Adds totals of the events in a range, unless another process has added them.
    private func add(_ totals: ReportTotals, after marker: Int64, through last: Int64) async throws -> Bool {
        try await writing(isDurable: false, nil) { session in
            guard try ReportTables.marker(of: .totals, locks: true, session) == marker else { return false }
            try ReportTables.add(totals, session)
            try ReportTables.setMarker(of: .totals, to: last, session)
            return true
        }
    }

    func removeReports(before moment: Int64) async throws {
        while try await writing(isDurable: false, nil, { try ReportTables.removeSome(before: moment, $0) }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
