/// The outcome of one attempt of a tracker call.
package enum TrackerOutcome: Sendable, Hashable {
    case succeeded
    /// The attempt failed and is retried at the given time. The case `untried` returns a lease without an attempt.
    case failed(String, again: Int64)
    case abandoned(String)
    case untried(again: Int64)
}

/// The table of tracker calls, implemented in the storage module.
package protocol TrackerLedger: Sendable {
    /// Creates the calls of all events since the last invocation: once for each event, also with several processes.
    ///
    /// If too many calls are waiting, failed calls are abandoned, those with the most attempts first. If no call has failed, the events wait.
    ///
    /// - Parameters:
    ///   - waiting: The maximum number of waiting calls.
    ///   - calls: Returns the calls of a batch of events.
    /// - Returns: The number of abandoned calls.
    func enqueueTrackerCalls(
        waiting: Int, now: Int64, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Int

    /// Leases due calls, so that no other process sends them during the lease (milliseconds). Each counts as an attempt.
    func leaseTrackerCalls(_ limit: Int, now: Int64, lease: Int64) async throws -> [TrackerCall]

    /// Records the outcomes of calls by their ids.
    func completeTrackerCalls(_ outcomes: [Int64: TrackerOutcome], now: Int64) async throws

    func trackerSummary() async throws -> TrackerSummary

    /// Returns the waiting calls, earliest due time first, or the abandoned calls, latest first.
    func trackerCalls(abandoned: Bool, limit: Int) async throws -> [TrackerCall]
}

package struct TrackerSummary: Sendable, Hashable, Encodable {
    package var waiting = 0
    package var givenUp = 0
    /// The time of the oldest event with a waiting call, in milliseconds since 1970-01-01 UTC.
    package var oldest: Int64?

    package init() {}
}
