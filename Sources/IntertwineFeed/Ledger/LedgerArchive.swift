/// An event as it stands in the ledger.
package struct RecordedEvent: Sendable, Hashable {
    /// Grows with every event; an export goes on behind the last one it has.
    package var sequence: Int64
    /// With its final verdict; deduplication and rates are not kept.
    package var event: LedgerEvent

    package init(marker: Int64, event: LedgerEvent) {
        self.sequence = marker
        self.event = event
    }
}

/// What operators ask of a ledger. Implemented in Storage.
package protocol LedgerArchive: Sendable {
    /// Counts from totals: the cost grows with the days and ads asked for, not with the events. Everything that was committed before is in it.
    ///
    /// - Throws: ``LedgerReport/TooManyRowsError``, ``StoreError``.
    func report(_ question: LedgerReport.Query) async throws -> LedgerReport

    /// Adds the events since the last time to the totals that reports are made of. Whoever never calls it waits for it with the next report.
    ///
    /// - Parameter withViewers: whether also to those of different viewers, which cost more to write.
    func gatherTotals(withViewers: Bool) async throws

    /// At most `limit` events behind a marker (0: from the start), in the order in which they were committed.
    func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent]

    /// Has the time that is known to have passed go on, and keeps it with the events. Where none is kept, it is that of the last event.
    ///
    /// - Parameters: as of ``RetentionClock/advance(to:after:)``.
    func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock

    /// Removes events older than a moment (milliseconds since 1970-01-01 UTC), a few at a time, so that clicks go on in between.
    /// Reports do not change, and markers go on from the last event there was.
    ///
    /// - Returns: how many were removed.
    func removeEvents(before moment: Int64) async throws -> Int

    /// Removes what is kept of a viewer: lists, selections, exposures and idempotency keys, at once; then takes the name off the events, and the
    /// input of slots, a few at a time, so that clicks go on in between. Reports do not change.
    ///
    /// - Parameter owners: what idempotency keys of the viewer are kept under.
    func erase(viewer: String, owners: [String]) async throws -> ErasedViewer
}

/// What was kept of a viewer.
package struct ErasedViewer: Sendable, Hashable, Encodable {
    /// Cells on lists.
    package var listed = 0
    package var selections = 0
    package var exposures = 0
    package var idempotencyKeys = 0
    /// Events that have no name any more.
    package var events = 0

    package init() {}
}

extension LedgerArchive {
    /// By one grouping, with no advertisements but those of the kind that the product comes with.
    package func report(days: ClosedRange<Int>, by grouping: LedgerReport.Grouping) async throws -> LedgerReport {
        try await report(LedgerReport.Query(days: days, by: grouping))
    }
}
