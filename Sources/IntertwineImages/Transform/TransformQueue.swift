internal import IntertwineEventLoop

/// A priority queue of transformations with limits in entries and pixels. The type is pure: it performs no I/O.
///
/// Visible images are first. Among them the newest has precedence, because it is the one still in view.
struct TransformQueue<ID: Hashable & Sendable>: Sendable {
    struct Limits: Sendable {
        /// The maximum number of concurrent transformations, one for each worker.
        var running = 2
        /// The maximum number of pixels of concurrent transformations, which determines their memory. A single one may always run.
        var runningPixels = 64_000_000
        /// The maximum number of waiting entries. `waitingPixels` is the maximum number of their pixels.
        var waiting = 256
        var waitingPixels = 400_000_000
        var maxQueueTime: Duration = .seconds(10)

        init() {}
    }

    private struct Entry {
        let id: ID
        let pixels: Int
        var priority: ImagePriority
        var owners: TransformOwners
        var rank: UInt64
        let until: MonotonicInstant
    }

    private struct Run {
        let pixels: Int
        var isPrefetch: Bool
        var owners: TransformOwners
    }

    /// The minimum throughput of a worker in pixels per second.
    private static var pixelsPerSecond: Int { 10_000_000 }

    private let limits: Limits
    private var running: [ID: Run] = [:]
    private var waiting: [Entry] = []
    private var lastRank: UInt64 = 0

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    var waitingCount: Int { waiting.count }

    /// Adds an entry.
    ///
    /// - Returns: False if the entry is rejected, and the less urgent entries that were removed for it.
    mutating func enter(
        _ id: ID, pixels: Int, priority: ImagePriority, owners: TransformOwners = TransformOwners(), now: MonotonicInstant
    ) -> (isTaken: Bool, displaced: [ID]) {
        // If a worker is idle, the entry waits only for a moment and does not count against the limits.
        let isIdle = waiting.isEmpty && running.count < limits.running
        var displaced: [ID] = []
        if !isIdle {
            var rest = waiting.sorted { ($0.priority, $0.rank) < ($1.priority, $1.rank) }
            while rest.count >= limits.waiting || rest.reduce(0, { $0 + $1.pixels }) > max(0, limits.waitingPixels - pixels) {
                guard let place = Self.placeToTake(in: rest, for: priority, owners, of: limits) else { return (false, []) }
                displaced.append(rest.remove(at: place).id)
            }
        }
        waiting.removeAll { displaced.contains($0.id) }
        lastRank += 1
        waiting.append(
            Entry(
                id: id, pixels: max(1, pixels), priority: priority, owners: owners, rank: lastRank,
                until: now.advanced(by: limits.maxQueueTime)))
        return (true, displaced)
    }

    /// Returns the index of the entry that a new entry replaces; nil if the new entry is rejected.
    ///
    /// The least urgent entry is replaced. If all are equally urgent, it is the oldest one whose origin or viewer has more than half of the queue.
    ///
    /// - Parameter waiting: The entries, least urgent and oldest first.
    private static func placeToTake(
        in waiting: [Entry], for priority: ImagePriority, _ owners: TransformOwners, of limits: Limits
    ) -> Int? {
        guard let last = waiting.first, last.priority <= priority else { return nil }
        if last.priority < priority { return 0 }
        let peers = waiting.prefix { $0.priority == priority }
        if let origin = crowd(waiting, limits, but: owners.origin, { $0.owners.origin }),
            let place = peers.firstIndex(where: { $0.owners.origin == origin })
        {
            return place
        }
        let viewer = crowd(waiting, limits, but: owners.soleViewer) { $0.owners.soleViewer }
        return viewer.flatMap { viewer in peers.firstIndex { $0.owners.soleViewer == viewer } }
    }

    /// Returns the origin or viewer with more than half of the queue, by number of entries or pixels; nil if none has.
    private static func crowd(_ waiting: [Entry], _ limits: Limits, but own: String?, _ name: (Entry) -> String?) -> String? {
        var shares: [String: (count: Int, pixels: Int)] = [:]
        for entry in waiting {
            guard let name = name(entry), name != own else { continue }
            let share = shares[name] ?? (0, 0)
            shares[name] = (share.count + 1, share.pixels + entry.pixels)
        }
        return shares.first { $0.value.count > limits.waiting / 2 || $0.value.pixels > limits.waitingPixels / 2 }?.key
    }

    /// Replaces the owners of an entry, because more viewers wait for it.
    mutating func setOwners(_ owners: TransformOwners, of id: ID) {
        running[id]?.owners = owners
        if let place = waiting.firstIndex(where: { $0.id == id }) { waiting[place].owners = owners }
    }

    /// Raises the priority of a waiting entry, and moves it before others with that priority. Its queue timeout is unchanged.
    ///
    /// A running entry no longer counts as prefetching.
    mutating func prioritize(_ id: ID, to priority: ImagePriority) {
        if priority > .prefetch { running[id]?.isPrefetch = false }
        guard let place = waiting.firstIndex(where: { $0.id == id }), priority > .prefetch, priority >= waiting[place].priority else {
            return
        }
        lastRank += 1
        (waiting[place].priority, waiting[place].rank) = (priority, lastRank)
    }

    /// Ends a running entry, or removes a waiting one from the queue.
    mutating func remove(_ id: ID) {
        if running.removeValue(forKey: id) == nil { waiting.removeAll { $0.id == id } }
    }

    /// Returns the next entry to process, and counts it as running.
    ///
    /// Prefetching uses at most half of the workers. The limit is the same for one origin, and for one viewer.
    mutating func next() -> ID? {
        guard running.count < limits.running else { return nil }
        let best = waiting.indices.filter { mayStart(waiting[$0]) }.max { left, right in
            let (old, new) = (waiting[left], waiting[right])
            if old.priority != new.priority { return old.priority < new.priority }
            // Prefetches are in the order of arrival.
            return old.priority == .prefetch ? old.rank > new.rank : old.rank < new.rank
        }
        guard let best else { return nil }
        let entry = waiting.remove(at: best)
        running[entry.id] = Run(pixels: entry.pixels, isPrefetch: entry.priority == .prefetch, owners: entry.owners)
        return entry.id
    }

    private func mayStart(_ entry: Entry) -> Bool {
        let share = max(1, limits.running / 2)
        if entry.priority == .prefetch, running.values.count(where: \.isPrefetch) >= share { return false }
        if let origin = entry.owners.origin, running.values.count(where: { $0.owners.origin == origin }) >= share { return false }
        let viewers = entry.owners.viewers
        let hasRoom = viewers.isEmpty || viewers.contains { viewer in running.values.count { $0.owners.viewers.contains(viewer) } < share }
        guard hasRoom, !running.isEmpty else { return hasRoom }
        // Pixels of other origins count for at most half of the limit. Why: one large animation must not block all other images.
        let half = limits.runningPixels / 2
        var (own, others) = (0, 0)
        for run in running.values {
            if run.owners.origin == entry.owners.origin { own += run.pixels } else { others += run.pixels }
        }
        return own + min(others, half) <= limits.runningPixels - min(entry.pixels, half)
    }

    /// Removes the entries whose queue timeout has expired, and returns them.
    mutating func expire(now: MonotonicInstant) -> [ID] {
        let gone = waiting.filter { $0.until <= now }.map(\.id)
        waiting.removeAll { $0.until <= now }
        return gone
    }

    var nextExpiry: MonotonicInstant? { waiting.lazy.map(\.until).min() }

    /// The estimated time in seconds until all waiting entries are processed.
    var retryAfter: Int {
        let pixels = waiting.reduce(0) { $0 + $1.pixels }
        return 1 + pixels / (Self.pixelsPerSecond * max(1, limits.running))
    }
}
