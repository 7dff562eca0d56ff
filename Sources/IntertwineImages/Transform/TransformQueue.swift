internal import IntertwineEventLoop

/// Whose picture is worked on next, who waits, and who is sent away: by what a picture costs, which is its pixels. Pure.
///
/// What somebody looks at goes first, and of that the newest, as it is the one that is still in view.
struct TransformQueue<ID: Hashable & Sendable>: Sendable {
    struct Limits: Sendable {
        /// How many may be worked on at once: one for each worker.
        var running = 2
        /// Pixels of those together, which become memory; one alone may always run.
        var runningPixels = 64_000_000
        /// How many may wait, and pixels of those together.
        var waiting = 256
        var waitingPixels = 400_000_000
        var patience: Duration = .seconds(10)

        init() {}
    }

    private struct Entry {
        let id: ID
        let pixels: Int
        var priority: ImagePriority
        var rank: UInt64
        let until: LoopInstant
    }

    /// What a worker gets done in a second, at the least.
    private static var pixelsPerSecond: Int { 10_000_000 }

    private let limits: Limits
    private var running: [ID: (pixels: Int, isPrefetch: Bool)] = [:]
    private var waiting: [Entry] = []
    private var lastRank: UInt64 = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var waitingCount: Int { waiting.count }

    /// - Returns: whether it may wait, and who was less urgent and lost its place to it.
    mutating func enter(_ id: ID, pixels: Int, priority: ImagePriority, now: LoopInstant) -> (isTaken: Bool, displaced: [ID]) {
        // It, too, waits for a moment where a worker is free; then it is no burden.
        let isIdle = waiting.isEmpty && running.count < limits.running
        var displaced: [Entry] = []
        if !isIdle {
            var rest = waiting.sorted { ($0.priority, $0.rank) < ($1.priority, $1.rank) }[...]
            var (count, sum) = (waiting.count, waiting.reduce(0) { $0 + $1.pixels })
            while count >= limits.waiting || sum > max(0, limits.waitingPixels - pixels) {
                guard let last = rest.popFirst(), last.priority < priority else { return (false, []) }
                displaced.append(last)
                (count, sum) = (count - 1, sum - last.pixels)
            }
        }
        waiting.removeAll { entry in displaced.contains { $0.id == entry.id } }
        lastRank += 1
        waiting.append(
            Entry(id: id, pixels: max(1, pixels), priority: priority, rank: lastRank, until: now.advanced(by: limits.patience)))
        return (true, displaced.map(\.id))
    }

    /// What waits gets at least that priority, and goes before what waits with it already; its patience stays. What runs does not count
    /// among what nobody looks at any more.
    mutating func hurry(_ id: ID, to priority: ImagePriority) {
        if priority > .prefetch { running[id]?.isPrefetch = false }
        guard let place = waiting.firstIndex(where: { $0.id == id }), priority > .prefetch, priority >= waiting[place].priority else {
            return
        }
        lastRank += 1
        (waiting[place].priority, waiting[place].rank) = (priority, lastRank)
    }

    /// Ends what runs, forgets what waits.
    mutating func leave(_ id: ID) {
        if running.removeValue(forKey: id) == nil { waiting.removeAll { $0.id == id } }
    }

    /// The next to be worked on; it counts as running from here on. Only half of the workers do what nobody looks at yet.
    mutating func next() -> ID? {
        guard running.count < limits.running else { return nil }
        let prefetching = running.values.count { $0.isPrefetch }
        let mayPrefetch = prefetching < max(1, limits.running / 2)
        let best = waiting.indices.filter { mayPrefetch || waiting[$0].priority != .prefetch }.max { left, right in
            let (old, new) = (waiting[left], waiting[right])
            if old.priority != new.priority { return old.priority < new.priority }
            // Who waits for what nobody looks at waits in line.
            return old.priority == .prefetch ? old.rank > new.rank : old.rank < new.rank
        }
        guard let best else { return nil }
        let entry = waiting[best]
        let used = running.values.reduce(0) { $0 + $1.pixels }
        guard running.isEmpty || used <= limits.runningPixels - entry.pixels else { return nil }
        waiting.remove(at: best)
        running[entry.id] = (entry.pixels, entry.priority == .prefetch)
        return entry.id
    }

    /// Those whose patience is over; they are forgotten here.
    mutating func expire(now: LoopInstant) -> [ID] {
        let gone = waiting.filter { $0.until <= now }.map(\.id)
        waiting.removeAll { $0.until <= now }
        return gone
    }

    var nextExpiry: LoopInstant? { waiting.lazy.map(\.until).min() }

    /// Seconds until what waits now should be done.
    var retryAfter: Int {
        let pixels = waiting.reduce(0) { $0 + $1.pixels }
        return 1 + pixels / (Self.pixelsPerSecond * max(1, limits.running))
    }
}
