package struct RecordedEvent: Sendable, Hashable {
    package var sequence: Int64
    package var event: LedgerEvent

    package init(marker: Int64, event: LedgerEvent) {
        self.sequence = marker
        self.event = event
    }
}

package protocol LedgerArchive: Sendable {
    func report(_ question: LedgerReport.Query) async throws -> LedgerReport

    /// If it is never called, the next report waits for it.
    func gatherTotals() async throws

    func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent]

    /// The highest marker of a removed event, and that of the newest event. Why: numbers have gaps, so the stored events do not show what is
    /// missing.
    func markers() async throws -> (removed: Int64, last: Int64)

    func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock

    /// Removes events older than `moment` (milliseconds since 1970-01-01 UTC) in small batches, so that clicks continue in between.
    func removeEvents(before moment: Int64) async throws -> Int

    /// Lists, selections, exposures and idempotency keys are removed at once. Then the viewer name and the slot input are removed from
    /// events in small batches, so that clicks continue in between.
    func erase(viewer: String, owners: [String]) async throws -> ErasedViewer
}

package struct ErasedViewer: Sendable, Hashable, Encodable {
    package var listed = 0
    package var selections = 0
    package var exposures = 0
    package var idempotencyKeys = 0
    package var events = 0

    package init() {}
}

extension LedgerArchive {
    package func report(days: ClosedRange<Int>, by grouping: LedgerReport.Grouping) async throws -> LedgerReport {
        try await report(LedgerReport.Query(days: days, by: grouping))
    }
}
