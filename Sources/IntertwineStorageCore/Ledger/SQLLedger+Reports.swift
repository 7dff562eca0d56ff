internal import IntertwineItems
internal import IntertwineLedger

/// Aggregation of totals and sketches.
extension SQLLedger {
    /// The limit of events that are read at once and added in one transaction: some thousand rows, which delay clicks by a few milliseconds.
    private var batch: Int { 4_000 }
    /// The numbers of events and of subjects after which sketches are written, whichever is reached first.
    private var sketched: (events: Int, subjects: Int) { (100_000, 2_000) }
    /// The limit of sketches in one transaction.
    private var sketchBatch: Int { 32 }

    package func gatherTotals(withViewers: Bool) async throws {
        try await gatherCounts(isUrgent: false)
        if withViewers { try await gatherViewers(isUrgent: false) }
    }

    private func marker(of checkpoint: ReportCheckpoint) async throws -> Int64 {
        try await reading(for: .background) { try ReportTables.marker(of: checkpoint, $0) }
    }

    /// Adds all events so far to the totals.
    ///
    /// - Parameter isUrgent: true if a caller waits. Otherwise the task sleeps between batches as long as each batch took.
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

    /// Adds the counts of recent events. Returns false if other events precede them after the marker; all of them are then read.
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

    /// Adds all events so far to the sketches. Adding an event twice changes nothing.
    ///
    /// - Parameter isUrgent: as in ``gatherCounts(isUrgent:)``.
    func gatherViewers(isUrgent: Bool = true) async throws {
        var marker = try await marker(of: .viewers)
        let settled = try await settledEnd()
        let (batch, sketched, sketchBatch) = (batch, sketched, sketchBatch)
        var isOver = false
        while !isOver {
            var (viewers, count) = (ReportViewers(), 0)
            let start = marker
            while count < sketched.events, viewers.sketches.count < sketched.subjects {
                let began = ContinuousClock.now
                let before = marker
                let found = try await reading(for: .background) { session in
                    try EventBatch(after: before, through: settled, limit: batch, session).map { ($0.last, try $0.seen(session)) }
                }
                guard let (last, events) = found else {
                    isOver = true
                    break
                }
                for event in events { viewers.add(event) }
                count += events.count
                marker = last
                if !isUrgent { try await Task.sleep(for: began.duration(to: .now)) }
            }
            guard marker > start else { return }
            let (sketches, end) = (Array(viewers.sketches), marker)
            for first in stride(from: 0, to: sketches.count, by: sketchBatch) {
                let part = sketches[first..<min(first + sketchBatch, sketches.count)]
                try await writing(isDurable: false, nil) { session in
                    // One process at a time merges.
                    _ = try ReportTables.marker(of: .viewers, locks: true, session)
                    try ReportTables.merge(part, session)
                }
            }
            try await writing(isDurable: false, nil) { try ReportTables.setMarker(of: .viewers, to: end, $0) }
        }
    }

    /// Removes hours and sketches older than the retention of events; totals by day remain.
    func removeReports(before moment: Int64) async throws {
        while try await writing(isDurable: false, nil, { try ReportTables.removeSome(before: moment, $0) }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
