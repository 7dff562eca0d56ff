internal import IntertwineEventLoop

/// The admission of downloads to origins. It combines ``ConcurrencyLimiter`` and ``CircuitBreaker``, and is pure: it performs no I/O.
struct OriginGate {
    enum Decision: Equatable {
        case go, wait
        case refuse
    }

    private var admission: ConcurrencyLimiter<UInt64>
    private var breaker: CircuitBreaker

    init(limits: ConcurrencyLimiter<UInt64>.Limits, rules: CircuitBreaker.Rules = CircuitBreaker.Rules()) {
        admission = ConcurrencyLimiter(limits: limits)
        breaker = CircuitBreaker(rules: rules)
    }

    func report(to metrics: inout ImageMetrics) {
        (metrics.inFlight, metrics.queued, metrics.openCircuits) = (runningCount, waitingCount, openCount)
    }

    /// The numbers of running downloads, of waiting downloads, and (`openCount`) of origins with an open circuit.
    var runningCount: Int { admission.runningCount }
    var waitingCount: Int { admission.waitingCount }
    var openCount: Int { breaker.openCount }

    /// Returns the failure for an origin with an open circuit; nil if a request may proceed.
    /// Once the open period is over, nil makes the caller the probe.
    mutating func reasonToStay(from origin: String, now: MonotonicInstant) -> ImageError? {
        guard case .open(let until) = breaker.ask(origin, now: now) else { return nil }
        return ImageError(.circuitOpen, retryAfter: Int(until.since(now).components.seconds) + 1)
    }

    /// Requests a permit for a download.
    ///
    /// - Returns: The decision, and the less urgent download that was removed from a full queue, if any.
    mutating func acquire(
        _ download: UInt64, origin: String, priority: ImagePriority, now: MonotonicInstant
    ) -> (verdict: Decision, displaced: UInt64?) {
        admission.setReduced(breaker.isReduced(origin, now: now), origin: origin)
        let (verdict, displaced) = admission.acquire(download, origin: origin, priority: priority, now: now)
        switch verdict {
        case .start: return (.go, displaced)
        case .wait: return (.wait, displaced)
        case .refuse: return (.refuse, displaced)
        }
    }

    /// Releases the permit or the queue entry of a download. Call ``next()`` afterwards.
    mutating func release(_ download: UInt64) { admission.release(download) }

    /// Records the outcome of a request to an origin.
    ///
    /// - Parameter outcome: The outcome; nil if the download was aborted and says nothing about the origin.
    mutating func record(_ outcome: CircuitBreaker.Outcome?, of origin: String, now: MonotonicInstant) {
        breaker.record(origin, outcome, now: now)
        admission.setReduced(breaker.isReduced(origin, now: now), origin: origin)
    }

    mutating func setPriority(_ priority: ImagePriority, of download: UInt64, now: MonotonicInstant) {
        admission.setPriority(priority, of: download, now: now)
    }

    /// Moves a download to the front of the queue, because its image is visible.
    mutating func prioritize(_ download: UInt64, now: MonotonicInstant) { admission.prioritize(download, now: now) }

    /// Returns true if the end of this download would let a waiting one start.
    func hasWaiters(for download: UInt64) -> Bool { admission.hasWaiters(for: download) }

    /// Returns the next download that may start. Call it until it returns nil after each release.
    mutating func next() -> UInt64? { admission.next() }

    /// Removes the downloads whose queue timeout has expired, and returns them.
    mutating func expire(now: MonotonicInstant) -> [UInt64] { admission.expire(now: now) }

    /// The time of the next call of ``expire(now:)``; nil if the queue is empty.
    var nextExpiry: MonotonicInstant? { admission.nextExpiry }
}

extension ConcurrencyLimiter.Limits {
    init(_ configuration: ImageConfiguration) {
        self.init()
        (running, perHost) = (configuration.downloads, configuration.downloadsPerHost)
        (waiting, maxQueueTime) = (configuration.queue, configuration.queueTimeout)
    }
}
