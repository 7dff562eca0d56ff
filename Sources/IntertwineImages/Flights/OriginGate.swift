internal import IntertwineEventLoop

/// Which downloads may go to which origin, and when: by the places that there are, and by what has come of those that went before. Pure.
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

    /// Downloads that are on their way, and that wait for a place; origins that are left alone.
    var runningCount: Int { admission.runningCount }
    var waitingCount: Int { admission.waitingCount }
    var openCount: Int { breaker.openCount }

    /// Why an origin is left alone now; nil where it may be asked. Where it was for a while, the one who hears that is the one who tries it.
    mutating func reasonToStay(from origin: String, now: MonotonicInstant) -> ImageError? {
        guard case .open(let until) = breaker.ask(origin, now: now) else { return nil }
        return ImageError(.circuitOpen, retryAfter: Int(until.since(now).components.seconds) + 1)
    }

    /// - Returns: whether it may go, and who was less urgent and lost its place in the queue.
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

    /// Gives its place back, in the queue or at the origin. Ask ``next()`` after this.
    mutating func release(_ download: UInt64) { admission.release(download) }

    /// What came of asking an origin.
    /// - Parameter outcome: nil where the download was given up and says nothing about it.
    mutating func record(_ outcome: CircuitBreaker.Outcome?, of origin: String, now: MonotonicInstant) {
        breaker.record(origin, outcome, now: now)
        admission.setReduced(breaker.isReduced(origin, now: now), origin: origin)
    }

    mutating func setPriority(_ priority: ImagePriority, of download: UInt64, now: MonotonicInstant) {
        admission.setPriority(priority, of: download, now: now)
    }

    /// Somebody looks at it now.
    mutating func prioritize(_ download: UInt64, now: MonotonicInstant) { admission.prioritize(download, now: now) }

    /// Whether somebody waits who could go if this one ended.
    func hasWaiters(for download: UInt64) -> Bool { admission.hasWaiters(for: download) }

    /// The next that may go. Ask until nil, after each departure.
    mutating func next() -> UInt64? { admission.next() }

    /// Those whose patience is over; they are forgotten here.
    mutating func expire(now: MonotonicInstant) -> [UInt64] { admission.expire(now: now) }

    /// When to call ``expire(now:)`` next.
    var nextExpiry: MonotonicInstant? { admission.nextExpiry }
}

extension ConcurrencyLimiter.Limits {
    init(_ configuration: ImageConfiguration) {
        self.init()
        (running, perHost) = (configuration.downloads, configuration.downloadsPerHost)
        (waiting, maxQueueTime) = (configuration.queue, configuration.queueTimeout)
    }
}
