package struct ImageMetrics: Sendable, Hashable {
    package var requests: [CacheStatus.Outcome: Int] = [:]
    package var upstream: [String: Int] = [:]
    package var collapsed = 0
    package var cancelledWaiters: [String: Int] = [:]
    /// The number of downloads aborted because no waiter was left, by stage.
    package var aborted: [String: Int] = [:]
    package var bytesWastedAfterCancel = 0
    package var bytesThrownAway = 0
    package var bytesReceived = 0
    package var retries = 0
    package var refreshes = 0
    package var sizedMade = 0
    package var sizedAborted = 0
    package var sizedFailed: [String: Int] = [:]

    package var inFlight = 0
    package var queued = 0
    package var waiters = 0
    package var bufferBytes = 0
    package var openCircuits = 0
    package var negativeEntries = 0

    package var memoryBytes = 0
    package var memoryEntries = 0
    package var memoryEvictions = 0
    package var diskBytes = 0
    package var diskEntries = 0
    package var diskEvictions = 0
    package var diskWriteFailures = 0
    package var diskDamaged = 0

    package init() {}

    /// Counts a download that was aborted because no waiter was left.
    mutating func countAbort(of flight: FetchAttempt, at stage: FetchAttempt.Stage) {
        aborted[stage.rawValue, default: 0] += 1
        bytesWastedAfterCancel += flight.receivedForNobody
        bytesThrownAway += flight.received
    }
}
