/// An event as the ledger stores it.
package struct RecordedEvent: Sendable, Hashable {
    /// The sequence number, which grows with every event. An export continues after the last number that it has.
    package var sequence: Int64
    /// The event with its final verdict. The data for deduplication and rate limits is not stored.
    package var event: LedgerEvent

    package init(marker: Int64, event: LedgerEvent) {
        self.sequence = marker
        self.event = event
    }
}

/// The operations of the ledger for operators. The storage module implements it.
package protocol LedgerArchive: Sendable {
    /// Creates a report from totals. The report includes every event that was committed before.
    ///
    /// The cost grows with the number of days and ads, not with the number of events.
    /// - Throws: ``LedgerReport/TooManyRowsError``, ``StoreError``.
    func report(_ question: LedgerReport.Query) async throws -> LedgerReport

    /// Adds the events since the last call to the totals that reports read. If it is never called, the next report waits for it.
    func gatherTotals() async throws

    /// Returns at most `limit` events after a sequence number (0: from the start), in commit order.
    func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent]

    /// Advances the retention clock and stores it with the events. If no clock is stored, the time of the last event is used.
    ///
    /// - Parameters: as for ``RetentionClock/advance(to:after:)``.
    func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock

    /// Removes events older than `moment` (milliseconds since 1970-01-01 UTC) in small batches, so that clicks continue in between.
    ///
    /// Reports do not change. Sequence numbers continue after the last event.
    /// - Returns: the number of removed events.
    func removeEvents(before moment: Int64) async throws -> Int

    /// Erases the stored data of a viewer.
    ///
    /// Lists, selections, exposures and idempotency keys are removed at once. Then the viewer name and the slot input are removed from events in
    /// small batches, so that clicks continue in between. Reports do not change.
    /// - Parameter owners: the owners under which idempotency keys of the viewer are stored.
    func erase(viewer: String, owners: [String]) async throws -> ErasedViewer
}

/// The counts of data that was erased for a viewer.
package struct ErasedViewer: Sendable, Hashable, Encodable {
    /// The number of cells on lists.
    package var listed = 0
    package var selections = 0
    package var exposures = 0
    package var idempotencyKeys = 0
    /// The number of events from which the viewer name was removed.
    package var events = 0

    package init() {}
}

extension LedgerArchive {
    /// Returns a report with one grouping, for ads of the built-in kind only.
    package func report(days: ClosedRange<Int>, by grouping: LedgerReport.Grouping) async throws -> LedgerReport {
        try await report(LedgerReport.Query(days: days, by: grouping))
    }
}
