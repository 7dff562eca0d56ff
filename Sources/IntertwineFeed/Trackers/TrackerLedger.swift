/// What became of a call that was tried.
package enum TrackerOutcome: Sendable, Hashable {
    case succeeded
    /// To be tried again, at that moment; or the time that it was given is handed back, where it was not tried at all.
    case failed(String, again: Int64)
    case abandoned(String)
    case untried(again: Int64)
}

/// The table of calls. Implemented in Storage.
package protocol TrackerLedger: Sendable {
    /// Makes calls of the events since the last time: once for each event, whichever process does. Where too many wait, those that have failed
    /// are given up to make room, those that were tried the most first; where none has, the events wait.
    ///
    /// - Parameters:
    ///   - waiting: how many calls may wait.
    ///   - calls: of a stretch of events.
    /// - Returns: how many were given up.
    func enqueueTrackerCalls(
        waiting: Int, now: Int64, _ calls: @escaping @Sendable ([RecordedEvent]) async throws -> [TrackerCall]
    ) async throws -> Int

    /// Takes calls that are due, so that nobody else does until a lease (milliseconds) is over. Each is counted as tried.
    func leaseTrackerCalls(_ limit: Int, now: Int64, lease: Int64) async throws -> [TrackerCall]

    /// Settles calls by their ids.
    func completeTrackerCalls(_ outcomes: [Int64: TrackerOutcome], now: Int64) async throws

    func trackerSummary() async throws -> TrackerSummary

    /// Those that wait, the one that is due first at the head; or those that were given up, the latest at the head.
    func trackerCalls(abandoned: Bool, limit: Int) async throws -> [TrackerCall]
}

package struct TrackerSummary: Sendable, Hashable, Encodable {
    package var waiting = 0
    package var givenUp = 0
    /// When the first event was whose call waits, in milliseconds since 1970-01-01 UTC.
    package var oldest: Int64?

    package init() {}
}
