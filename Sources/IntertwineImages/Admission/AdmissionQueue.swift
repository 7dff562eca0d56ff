internal import IntertwineHTTPServer

/// A priority queue that admits work within limits: in total, by origin and by cost.
/// Among visible and near entries the newest starts first, because it is the one still in view.
struct AdmissionQueue<Key: Hashable & Sendable>: Sendable {
    struct Limits: Sendable {
        var running: Int
        var perOrigin: Int
        var prefetchesPerOrigin: Int
        /// Other origins count for at most half of it. Why: one large image must not block all others.
        var runningCost = Int.max
        var waiting = 256
        var waitingCost = Int.max
        var maxQueueTime: Duration
    }

    private struct Entry {
        let key: Key
        let cost: Int
        let origin: String?
        var priority: ImagePriority
        var rank: UInt64
        var until: MonotonicInstant
    }

    private struct Usage {
        var all = 0
        var prefetch = 0
        var cost = 0

        mutating func add(_ entry: Entry, _ sign: Int) {
            all += sign
            if entry.priority == .prefetch { prefetch += sign }
            cost += sign * entry.cost
        }
    }

    private let limits: Limits
    private var running: [Key: Entry] = [:]
    private var total = Usage()
    private var origins: [String?: Usage] = [:]
    private var waiting: [Entry] = []
    private var lastRank: UInt64 = 0

    init(limits: Limits) {
        self.limits = limits
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.count }
    var waitingCost: Int { waiting.reduce(0) { $0 + $1.cost } }

    mutating func enter(
        _ key: Key, from origin: String?, cost: Int = 0, priority: ImagePriority, now: MonotonicInstant,
        isReduced: (String) -> Bool = { _ in false }
    ) -> (isAccepted: Bool, displaced: [Key]) {
        lastRank += 1
        let entry = Entry(
            key: key, cost: cost, origin: origin, priority: priority, rank: lastRank, until: now.advanced(by: limits.maxQueueTime))
        var displaced: [Key] = []
        if isFull(waiting, for: entry), !mayStart(entry, isReduced) || best(isReduced) != nil {
            var rest = waiting.sorted { ($0.priority, $0.rank) < ($1.priority, $1.rank) }
            while isFull(rest, for: entry) {
                guard let index = indexToDisplace(in: rest, for: entry) else { return (false, []) }
                displaced.append(rest.remove(at: index).key)
            }
            waiting.removeAll { displaced.contains($0.key) }
        }
        waiting.append(entry)
        return (true, displaced)
    }

    private func isFull(_ waiting: [Entry], for new: Entry) -> Bool {
        waiting.count >= limits.waiting || waiting.reduce(0) { $0 + $1.cost } > max(0, limits.waitingCost - new.cost)
    }

    private func indexToDisplace(in waiting: [Entry], for new: Entry) -> Int? {
        guard let last = waiting.first, last.priority <= new.priority else { return nil }
        if last.priority < new.priority { return 0 }
        let peers = waiting.prefix { $0.priority == new.priority }
        guard let dominant = dominantOrigin(of: waiting, except: new.origin) else { return nil }
        return peers.firstIndex { $0.origin == dominant }
    }

    private func dominantOrigin(of waiting: [Entry], except own: String?) -> String? {
        var shares: [String: Usage] = [:]
        for entry in waiting {
            if let origin = entry.origin, origin != own { shares[origin, default: Usage()].add(entry, 1) }
        }
        return shares.first { $0.value.all > limits.waiting / 2 || $0.value.cost > limits.waitingCost / 2 }?.key
    }

    mutating func setPriority(_ priority: ImagePriority, of key: Key, isNewest: Bool = false, now: MonotonicInstant) {
        if var entry = running[key] {
            // A running prefetch that is raised makes room for another one.
            guard priority > entry.priority else { return }
            count(entry, -1)
            entry.priority = priority
            count(entry, 1)
            running[key] = entry
        } else if let index = index(of: key) {
            if priority > waiting[index].priority { waiting[index].until = now.advanced(by: limits.maxQueueTime) }
            waiting[index].priority = priority
            guard isNewest else { return }
            lastRank += 1
            waiting[index].rank = lastRank
        }
    }

    mutating func remove(_ key: Key) {
        if let entry = running.removeValue(forKey: key) {
            count(entry, -1)
        } else if let index = index(of: key) {
            waiting.remove(at: index)
        }
    }

    func isWaiting(_ key: Key) -> Bool { index(of: key) != nil }

    func hasWaiters(for key: Key) -> Bool {
        guard let entry = running[key] else { return false }
        return waiting.contains { $0.origin == entry.origin } || (running.count >= limits.running && !waiting.isEmpty)
    }

    /// Call it until it returns nil.
    mutating func next(isReduced: (String) -> Bool = { _ in false }) -> Key? {
        guard let index = best(isReduced) else { return nil }
        let entry = waiting.remove(at: index)
        running[entry.key] = entry
        count(entry, 1)
        return entry.key
    }

    mutating func expire(now: MonotonicInstant) -> [Key] {
        let expired = waiting.filter { $0.until <= now }.map(\.key)
        waiting.removeAll { $0.until <= now }
        return expired
    }

    var nextExpiry: MonotonicInstant? { waiting.lazy.map(\.until).min() }

    private func index(of key: Key) -> Int? { waiting.firstIndex { $0.key == key } }

    private func best(_ isReduced: (String) -> Bool) -> Int? {
        guard running.count < limits.running else { return nil }
        return waiting.indices.filter { mayStart(waiting[$0], isReduced) }.max { left, right in
            let (old, new) = (waiting[left], waiting[right])
            if old.priority != new.priority { return old.priority < new.priority }
            return old.priority == .prefetch ? old.rank > new.rank : old.rank < new.rank
        }
    }

    private func mayStart(_ entry: Entry, _ isReduced: (String) -> Bool) -> Bool {
        let isPrefetch = entry.priority == .prefetch
        guard total.all < limits.running, !isPrefetch || total.prefetch < max(1, limits.running / 2) else { return false }
        let own = origins[entry.origin] ?? Usage()
        if let origin = entry.origin {
            let isReduced = isReduced(origin)
            guard own.all < (isReduced ? min(2, limits.perOrigin) : limits.perOrigin) else { return false }
            guard !isPrefetch || own.prefetch < (isReduced ? 1 : limits.prefetchesPerOrigin) else { return false }
        }
        let half = limits.runningCost / 2
        return running.isEmpty || own.cost + min(total.cost - own.cost, half) <= limits.runningCost - min(entry.cost, half)
    }

    private mutating func count(_ entry: Entry, _ sign: Int) {
        total.add(entry, sign)
        var usage = origins[entry.origin] ?? Usage()
        usage.add(entry, sign)
        origins[entry.origin] = usage.all > 0 ? usage : nil
    }
}
