internal import IntertwineEventLoop

/// Who may download now, who waits, and who is sent away. Pure.
///
/// Visible goes before near, near before prefetch. Among those that somebody looks at the newest goes first: it is the one
/// still in view. What waits too long is sent away rather than served to nobody.
struct ConcurrencyLimiter<ID: Hashable & Sendable>: Sendable {
    struct Limits: Sendable {
        var running = 64
        var perHost = 6
        /// And from one that answers badly.
        var reducedConcurrency = 2
        /// How many of those are remembered.
        var maxReducedOrigins = 1_000
        /// How many of each of the two prefetching may take, in percent: a flood of it must not lock the visible out.
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
        /// Larger where somebody asked for it, or looked at it, more recently.
        var rank: UInt64
        var until: MonotonicInstant
    }

    private let limits: Limits
    private var running: [ID: (origin: String, isPrefetch: Bool)] = [:]
    private var perOrigin: [String: (all: Int, prefetch: Int)] = [:]
    private var prefetching = 0
    private var reducedOrigins: Set<String> = []
    /// In the order of arrival.
    private var waiting: [Entry] = []
    private var lastRank: UInt64 = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.count }

    /// - Returns: the verdict, and whose place was taken where the queue was full of less urgent ones.
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

    /// Ends what runs, forgets what waits.
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

    /// Who is wanted more urgently than before waits from now on. Ask ``next()`` after this.
    mutating func setPriority(_ priority: ImagePriority, of id: ID, now: MonotonicInstant) {
        if let place = waiting.firstIndex(where: { $0.id == id }) { setPriority(priority, at: place, now) }
    }

    private mutating func setPriority(_ priority: ImagePriority, at place: Int, _ now: MonotonicInstant) {
        if priority > waiting[place].priority { waiting[place].until = now.advanced(by: limits.maxQueueTime) }
        waiting[place].priority = priority
    }

    /// Somebody looks at it now: it goes before all that wait, as the newest of those in view does.
    mutating func prioritize(_ id: ID, now: MonotonicInstant) {
        guard let place = waiting.firstIndex(where: { $0.id == id }) else { return }
        lastRank += 1
        setPriority(.visible, at: place, now)
        waiting[place].rank = lastRank
    }

    /// Whether somebody waits who could start if this one ended.
    func hasWaiters(for id: ID) -> Bool {
        guard let run = running[id] else { return false }
        return waiting.contains { $0.origin == run.origin } || (running.count >= limits.running && !waiting.isEmpty)
    }

    /// The next that may start, and now counts as running. Ask until nil, after each departure.
    mutating func next() -> ID? {
        var best: Int?
        for place in waiting.indices where mayStart(origin: waiting[place].origin, isPrefetch: waiting[place].priority == .prefetch) {
            guard let found = best else {
                best = place
                continue
            }
            let (new, old) = (waiting[place], waiting[found])
            let isNewer = new.priority == old.priority && new.priority != .prefetch && new.rank > old.rank
            if new.priority > old.priority || isNewer { best = place }
        }
        guard let best else { return nil }
        let entry = waiting.remove(at: best)
        start(entry.id, origin: entry.origin, priority: entry.priority)
        return entry.id
    }

    /// Those whose patience is over; they are forgotten here.
    mutating func expire(now: MonotonicInstant) -> [ID] {
        let gone = waiting.filter { $0.until <= now }.map(\.id)
        waiting.removeAll { $0.until <= now }
        return gone
    }

    /// When to call ``expire(now:)`` next.
    var nextExpiry: MonotonicInstant? { waiting.lazy.map(\.until).min() }

    /// Whether an origin is to be asked for fewer at once. Ask ``next()`` after this.
    mutating func setReduced(_ isGentle: Bool, origin: String) {
        guard isGentle else {
            reducedOrigins.remove(origin)
            return
        }
        // Of those that nobody asks for any more nobody says that it is over.
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
