/// The counters since the start of the manager, and its current gauges. The keys of the dictionaries are from small fixed sets.
public struct ImageMetrics: Sendable, Hashable {
    /// The number of requests by cache outcome.
    public var requests: [CacheStatus.Outcome: Int] = [:]
    /// The number of ended downloads by result: `ok`, `not-modified`, or an error code; upstream statuses are grouped by class.
    public var upstream: [String: Int] = [:]
    /// The number of requests coalesced with the download of another one.
    public var collapsed = 0
    /// The number of waiters that cancelled before completion, by stage of their download.
    public var cancelledWaiters: [String: Int] = [:]
    /// The number of downloads aborted because no waiter was left, by stage.
    public var aborted: [String: Int] = [:]
    /// The bytes received after the last waiter had left, of downloads that were aborted.
    public var bytesWastedAfterCancel = 0
    /// The bytes of all aborted downloads.
    public var bytesThrownAway = 0
    public var bytesReceived = 0
    public var retries = 0
    public var refreshes = 0
    /// The number of resized images. `sizedAborted` counts cancelled ones, and `sizedFailed` counts failures by error code.
    public var sizedMade = 0
    public var sizedAborted = 0
    public var sizedFailed: [String: Int] = [:]

    public var inFlight = 0
    public var queued = 0
    public var waiters = 0
    public var bufferBytes = 0
    public var openCircuits = 0
    public var negativeEntries = 0

    public var memoryBytes = 0
    public var memoryEntries = 0
    public var memoryEvictions = 0
    public var diskBytes = 0
    public var diskEntries = 0
    public var diskEvictions = 0
    public var diskWriteFailures = 0
    public var diskDamaged = 0

    public init() {}

    /// Counts a download that was aborted because no waiter was left.
    mutating func countAbort(of flight: FetchAttempt, at stage: FetchAttempt.Stage) {
        aborted[stage.rawValue, default: 0] += 1
        bytesWastedAfterCancel += flight.receivedForNobody
        bytesThrownAway += flight.received
    }
}
