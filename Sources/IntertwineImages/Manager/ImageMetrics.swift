/// What the manager has done since it started, and what it does now. Keys of the dictionaries come from small fixed sets.
public struct ImageMetrics: Sendable, Hashable {
    /// Requests by how they were answered.
    public var requests: [CacheStatus.Outcome: Int] = [:]
    /// Finished downloads by result: `ok`, `not-modified`, or a failure's code; origins' statuses by their class.
    public var upstream: [String: Int] = [:]
    /// Requests that another one's download served.
    public var collapsed = 0
    /// Waiters that left before they had everything, by where their download stood.
    public var cancelledWaiters: [String: Int] = [:]
    /// Downloads given up because nobody waited any more, by where they stood.
    public var aborted: [String: Int] = [:]
    /// Bytes that came in after the last waiter had left, of downloads that were then given up.
    public var bytesWastedAfterCancel = 0
    /// All the bytes of downloads that were given up.
    public var bytesThrownAway = 0
    public var bytesReceived = 0
    public var retries = 0
    public var refreshes = 0
    /// Sized pictures that were made, given up as nobody waited any more, and failed, by the failure's code.
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

    /// A download was given up because nobody waited any more.
    mutating func countAbort(of flight: FetchAttempt, at stage: FetchAttempt.Stage) {
        aborted[stage.rawValue, default: 0] += 1
        bytesWastedAfterCancel += flight.receivedForNobody
        bytesThrownAway += flight.received
    }
}
