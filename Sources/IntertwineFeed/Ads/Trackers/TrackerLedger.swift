package enum TrackerOutcome: Sendable, Hashable {
    case succeeded
    case failed(String, again: Int64)
    case abandoned(String)
    case untried(again: Int64)
}

package protocol TrackerLedger: Sendable {
    func enqueueTrackerCalls(
        waiting: Int, now: Int64, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Int

    /// Leases due calls, so that no other process sends them during the lease (milliseconds).
    func leaseTrackerCalls(_ limit: Int, now: Int64, lease: Int64) async throws -> [TrackerCall]

    func completeTrackerCalls(_ outcomes: [Int64: TrackerOutcome], now: Int64) async throws

    func trackerSummary() async throws -> TrackerSummary

    func trackerCalls(abandoned: Bool, limit: Int) async throws -> [TrackerCall]
}

package struct TrackerSummary: Sendable, Hashable, Encodable {
    package var waiting = 0
    package var givenUp = 0
    /// The time of the oldest event with a waiting call, in milliseconds since 1970-01-01 UTC.
    package var oldest: Int64?

    package init() {}
}
