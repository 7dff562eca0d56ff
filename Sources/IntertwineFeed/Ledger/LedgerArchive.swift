/// What operators ask of a ledger. Implemented in Storage.
public protocol LedgerArchive: Sendable {
    /// Counts from rollups: the cost grows with the days and ads asked for, not with the events.
    ///
    /// - Parameters:
    ///   - days: days since 1970-01-01 UTC.
    ///   - prefixes: what the ids of advertisements' cells begin with, before the colon; for a report by advertisement.
    func report(days: ClosedRange<Int>, by grouping: LedgerReport.Grouping, prefixes: [String]) async throws -> LedgerReport

    /// At most `limit` events behind a marker (0: from the start), in the order in which they were committed.
    func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent]

    /// Has the time that is known to have passed go on, and keeps it with the events. Where none is kept, it is that of the last event.
    ///
    /// - Parameters: as of ``PassedTime/advance(to:after:)``.
    func passTime(to clock: Int64, after elapsed: Duration) async throws -> PassedTime

    /// Removes events older than a moment (milliseconds since 1970-01-01 UTC), a few at a time, so that clicks go on in between.
    /// Reports do not change, and markers go on from the last event there was.
    ///
    /// - Returns: how many were removed.
    func removeEvents(before moment: Int64) async throws -> Int
}

extension LedgerArchive {
    /// The same with no advertisements but those of the kind that the product comes with.
    public func report(days: ClosedRange<Int>, by grouping: LedgerReport.Grouping) async throws -> LedgerReport {
        try await report(days: days, by: grouping, prefixes: ["ad"])
    }
}
