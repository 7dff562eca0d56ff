/// The counters since the start of the manager, and its current gauges. The keys of the dictionaries are from small fixed sets.
///
/// ```swift
/// let metrics = await manager.metrics()
/// let hits = metrics.requests[.hit, default: 0]
/// print(hits, metrics.collapsed, metrics.bytesReceived)
/// ```
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
    /// The bytes of all downloads.
    public var bytesReceived = 0
    /// The number of downloads that were attempted again.
    public var retries = 0
    /// The number of revalidations whose stale image was served meanwhile.
    public var refreshes = 0
    /// The number of resized images. `sizedAborted` counts cancelled ones, and `sizedFailed` counts failures by error code.
    public var sizedMade = 0
    /// The number of resizing jobs that were cancelled.
    public var sizedAborted = 0
    /// The number of resizing jobs that failed, by error code.
    public var sizedFailed: [String: Int] = [:]

    /// The number of running downloads.
    public var inFlight = 0
    /// The number of waiting downloads.
    public var queued = 0
    /// The number of requests that wait for an image.
    public var waiters = 0
    /// The bytes of running downloads in memory.
    public var bufferBytes = 0
    /// The number of hosts with an open circuit breaker.
    public var openCircuits = 0
    /// The number of remembered failures.
    public var negativeEntries = 0

    /// The bytes of cached images in memory.
    public var memoryBytes = 0
    /// The number of cached images in memory.
    public var memoryEntries = 0
    /// The number of images that were evicted from memory.
    public var memoryEvictions = 0
    /// The bytes of cached images on disk.
    public var diskBytes = 0
    /// The number of cached images on disk.
    public var diskEntries = 0
    /// The number of images that were evicted from disk.
    public var diskEvictions = 0
    /// The number of images that could not be written to disk.
    public var diskWriteFailures = 0
    /// The number of damaged files that were found in the disk cache.
    public var diskDamaged = 0

    /// Creates metrics without counts.
    public init() {}

    /// Counts a download that was aborted because no waiter was left.
    mutating func countAbort(of flight: FetchAttempt, at stage: FetchAttempt.Stage) {
        aborted[stage.rawValue, default: 0] += 1
        bytesWastedAfterCancel += flight.receivedForNobody
        bytesThrownAway += flight.received
    }
}
