internal import IntertwineEventLoop

/// A limiter of concurrent downloads with a priority queue. The type is pure: it performs no I/O.
///
/// The order is visible, near, prefetch. Among visible and near entries the newest starts first, because it is the one still in view.
/// An entry that waits longer than `maxQueueTime` is removed from the queue.
struct ConcurrencyLimiter<ID: Hashable & Sendable>: Sendable {
    struct Limits: Sendable {
        var running = 64
        var perHost = 6
        /// The maximum number of concurrent downloads from an origin that returns bad responses.
        var reducedConcurrency = 2
        /// The maximum number of origins with reduced concurrency that are stored.
        var maxReducedOrigins = 1_000
        /// The percentage of `running` and of `perHost` that prefetching may use. Why: a flood of prefetching must not block visible images.
        var prefetchPercent = 50
        var waiting = 256
        var maxQueueTime: Duration = .seconds(2)

        init() {}
    }

    enum Decision: Equatable {
        case start, wait, refuse
    }

    private struct Entry {
        let id: ID
        let origin: String
        var priority: ImagePriority
        /// The recency of the entry: larger if it was requested or prioritized more recently.
        var rank: UInt64
        var until: MonotonicInstant
    }

    private let limits: Limits
    private var running: [ID: (origin: String, isPrefetch: Bool)] = [:]
    private var perOrigin: [String: (all: Int, prefetch: Int)] = [:]
    private var prefetching = 0
    private var reducedOrigins: Set<String> = []
    /// The queue, in the order of arrival.
    private var waiting: [Entry] = []
    private var lastRank: UInt64 = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.count }

    /// Requests a permit for a download.
    ///
    /// - Returns: The decision, and the less urgent entry that was removed from a full queue, if any.
    mutating func acquire(_ id: ID, origin: String, priority: ImagePriority, now: MonotonicInstant) -> (verdict: Decision, displaced: ID?) {
        if mayStart(origin: origin, isPrefetch: priority == .prefetch) {
            start(id, origin: origin, priority: priority)
            return (.start, nil)
        }
        var displaced: ID?
        if waiting.count >= limits.waiting {
            let last = waiting.indices.min { (waiting[$0].priority, waiting[$0].rank) < (waiting[$1].priority, waiting[$1].rank) }
            guard let last, waiting[last].priority < priority else { return (.refuse, nil) }
            displaced = waiting.remove(at: last).id
        }
        lastRank += 1
        waiting.append(Entry(id: id, origin: origin, priority: priority, rank: lastRank, until: now.advanced(by: limits.maxQueueTime)))
        return (.wait, displaced)
    }

    /// Ends a running download, or removes a waiting one from the queue.
    mutating func release(_ id: ID) {
        if let run = running.removeValue(forKey: id) {
            if run.isPrefetch { prefetching -= 1 }
            let count = perOrigin[run.origin] ?? (0, 0)
            let rest = (all: count.all - 1, prefetch: count.prefetch - (run.isPrefetch ? 1 : 0))
            perOrigin[run.origin] = rest.all > 0 ? rest : nil
        } else {
            waiting.removeAll { $0.id == id }
        }
    }

    /// Changes the priority of a waiting download. A raised priority restarts its queue timeout. Call ``next()`` afterwards.
    mutating func setPriority(_ priority: ImagePriority, of id: ID, now: MonotonicInstant) {
        if let index = waiting.firstIndex(where: { $0.id == id }) { setPriority(priority, at: index, now) }
    }

    private mutating func setPriority(_ priority: ImagePriority, at index: Int, _ now: MonotonicInstant) {
        if priority > waiting[index].priority { waiting[index].until = now.advanced(by: limits.maxQueueTime) }
        waiting[index].priority = priority
    }

    /// Moves a download to the front of the queue: its priority becomes visible and its rank the newest.
    mutating func prioritize(_ id: ID, now: MonotonicInstant) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        lastRank += 1
        setPriority(.visible, at: index, now)
        waiting[index].rank = lastRank
    }

    /// Returns true if the end of this download would let a waiting one start.
    func hasWaiters(for id: ID) -> Bool {
        guard let run = running[id] else { return false }
        return waiting.contains { $0.origin == run.origin } || (running.count >= limits.running && !waiting.isEmpty)
    }

    /// Returns the next download that may start, and counts it as running. Call it until it returns nil after each release.
    mutating func next() -> ID? {
        var best: Int?
        for index in waiting.indices where mayStart(origin: waiting[index].origin, isPrefetch: waiting[index].priority == .prefetch) {
            guard let found = best else {
                best = index
                continue
            }
            let (new, old) = (waiting[index], waiting[found])
            let isNewer = new.priority == old.priority && new.priority != .prefetch && new.rank > old.rank
            if new.priority > old.priority || isNewer { best = index }
        }
        guard let best else { return nil }
        let entry = waiting.remove(at: best)
        start(entry.id, origin: entry.origin, priority: entry.priority)
        return entry.id
    }

    /// Removes the entries whose queue timeout has expired, and returns them.
    mutating func expire(now: MonotonicInstant) -> [ID] {
        let expired = waiting.filter { $0.until <= now }.map(\.id)
        waiting.removeAll { $0.until <= now }
        return expired
    }

    /// The time of the next call of ``expire(now:)``; nil if the queue is empty.
    var nextExpiry: MonotonicInstant? { waiting.lazy.map(\.until).min() }

    /// Turns reduced concurrency of an origin on or off. Call ``next()`` afterwards.
    mutating func setReduced(_ isGentle: Bool, origin: String) {
        guard isGentle else {
            reducedOrigins.remove(origin)
            return
        }
        // An origin that receives no more requests is never reset, so the set is emptied once it is full.
        if reducedOrigins.count >= limits.maxReducedOrigins { reducedOrigins = [] }
        reducedOrigins.insert(origin)
    }

    private func mayStart(origin: String, isPrefetch: Bool) -> Bool {
        let there = perOrigin[origin] ?? (0, 0)
        let most = reducedOrigins.contains(origin) ? min(limits.reducedConcurrency, limits.perHost) : limits.perHost
        guard running.count < limits.running, there.all < most else { return false }
        guard isPrefetch else { return true }
        return prefetching * 100 < limits.running * limits.prefetchPercent && there.prefetch * 100 < most * limits.prefetchPercent
    }

    private mutating func start(_ id: ID, origin: String, priority: ImagePriority) {
        let isPrefetch = priority == .prefetch
        running[id] = (origin, isPrefetch)
        if isPrefetch { prefetching += 1 }
        let count = perOrigin[origin] ?? (0, 0)
        perOrigin[origin] = (count.all + 1, count.prefetch + (isPrefetch ? 1 : 0))
    }
}
