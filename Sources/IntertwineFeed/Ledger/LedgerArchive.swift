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

    /// The counts of a campaign by quarters of an hour since 1970-01-01 UTC.
    func deliveries(of campaign: String, in spans: Range<Int64>) async throws -> [(span: Int64, kind: LedgerEvent.Kind, count: Int)]

    /// If it is never called, the next report waits for it.
    func gatherTotals() async throws

    func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent]

    /// The highest marker of a removed event, and that of the newest event. Why: numbers have gaps, so the stored events do not show what is
    /// missing.
    func markers() async throws -> (removed: Int64, last: Int64)

    func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock

    /// Removes events older than `moment` (milliseconds since 1970-01-01 UTC) in small batches, so that clicks continue in between.
    func removeEvents(before moment: Int64) async throws -> Int

    /// Takes counted events back in batches. Each batch leaves all reports and the delivery of campaigns equal to the events.
    func void(_ selection: EventSelection, isDryRun: Bool) async throws -> [EventSelection.VoidedCount]

    /// Lists, selections, exposures and idempotency keys are removed at once. Then the viewer name and the slot input are removed from
    /// events in small batches, so that clicks continue in between.
    func erase(viewer: String, owners: [String]) async throws -> ErasedViewer
}

package struct EventSelection: Sendable, Hashable {
    /// The milliseconds since 1970-01-01 UTC.
    package var time: Range<Int64>
    package var kind: LedgerEvent.Kind?
    package var campaign: String?
    /// The stored forms of the address, which can differ by day.
    package var addresses: [String]?
    package var userAgent: String?

    package init(time: Range<Int64>) {
        self.time = time
    }

    /// The reason why a correction of this time is refused; nil if it is not.
    package var fault: String? { time.upperBound - time.lowerBound > 366 * 86_400_000 ? "at most 366 days after from" : nil }

    package func contains(_ event: LedgerEvent) -> Bool {
        func isAny(_ stated: [String]?, _ text: String?) -> Bool {
            guard let stated else { return true }
            return text.map { text in stated.contains { ByteString($0) == ByteString(text) } } ?? false
        }
        return event.verdict == .counted && time.contains(event.at) && event.creative != nil && kind.map { $0 == event.kind } ?? true
            && isAny(campaign.map { [$0] }, event.impressionContext?.campaign) && isAny(addresses, event.address)
            && userAgent.map { event.userAgent?.contains($0) ?? false } ?? true
    }

    package struct VoidedCount: Sendable, Hashable {
        package var campaign: String
        package var kind: String
        package var events: Int

        package init(campaign: String, kind: String, events: Int) {
            (self.campaign, self.kind, self.events) = (campaign, kind, events)
        }
    }
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
