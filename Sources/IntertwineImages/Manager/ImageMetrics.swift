/// The counters since the start of the manager, and its current gauges. The keys of the dictionaries are from small fixed sets.
///
/// ```swift
/// let metrics = await manager.metrics()
/// let hits = metrics.requests[.hit, default: 0]
/// print(hits, metrics.collapsed, metrics.bytesReceived)
/// ```
package struct ImageMetrics: Sendable, Hashable {
    /// The number of requests by cache outcome.
    package var requests: [CacheStatus.Outcome: Int] = [:]
    /// The number of ended downloads by result: `ok`, `not-modified`, or an error code; upstream statuses are grouped by class.
    package var upstream: [String: Int] = [:]
    /// The number of requests coalesced with the download of another one.
    package var collapsed = 0
    /// The number of waiters that cancelled before completion, by stage of their download.
    package var cancelledWaiters: [String: Int] = [:]
    /// The number of downloads aborted because no waiter was left, by stage.
    package var aborted: [String: Int] = [:]
    /// The bytes received after the last waiter had left, of downloads that were aborted.
    package var bytesWastedAfterCancel = 0
    /// The bytes of all aborted downloads.
    package var bytesThrownAway = 0
    /// The bytes of all downloads.
    package var bytesReceived = 0
    /// The number of downloads that were attempted again.
    package var retries = 0
    /// The number of revalidations whose stale image was served meanwhile.
    package var refreshes = 0
    /// The number of resized images. `sizedAborted` counts cancelled ones, and `sizedFailed` counts failures by error code.
    package var sizedMade = 0
    /// The number of resizing jobs that were cancelled.
    package var sizedAborted = 0
    /// The number of resizing jobs that failed, by error code.
    package var sizedFailed: [String: Int] = [:]

    /// The number of running downloads.
    package var inFlight = 0
    /// The number of waiting downloads.
    package var queued = 0
    /// The number of requests that wait for an image.
    package var waiters = 0
    /// The bytes of running downloads in memory.
    package var bufferBytes = 0
    /// The number of hosts with an open circuit breaker.
    package var openCircuits = 0
    /// The number of remembered failures.
    package var negativeEntries = 0

    /// The bytes of cached images in memory.
    package var memoryBytes = 0
    /// The number of cached images in memory.
    package var memoryEntries = 0
    /// The number of images that were evicted from memory.
    package var memoryEvictions = 0
    /// The bytes of cached images on disk.
    package var diskBytes = 0
    /// The number of cached images on disk.
    package var diskEntries = 0
    /// The number of images that were evicted from disk.
    package var diskEvictions = 0
    /// The number of images that could not be written to disk.
    package var diskWriteFailures = 0
    /// The number of damaged files that were found in the disk cache.
    package var diskDamaged = 0

    /// Creates metrics without counts.
    package init() {}

    /// Counts a download that was aborted because no waiter was left.
    mutating func countAbort(of flight: FetchAttempt, at stage: FetchAttempt.Stage) {
        aborted[stage.rawValue, default: 0] += 1
        bytesWastedAfterCancel += flight.receivedForNobody
        bytesThrownAway += flight.received
    }
}
