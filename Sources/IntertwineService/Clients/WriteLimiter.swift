internal import Synchronization

/// Why: each write stores a bounded number of bytes, so a bounded rate limits the growth of the database.
final class WriteLimiter: Sendable {
    enum Group: Hashable { case actions, events, clients, tokens, playground }

    private struct State {
        var addresses: Buckets
        var viewers: Buckets
        /// The latest time so far, and the milliseconds by which the clock was set back in all.
        private var (latest, lost): (Int64, Int64) = (.min, 0)

        init(address: Int, viewer: Int) {
            (addresses, viewers) = (Buckets(rate: address), Buckets(rate: viewer))
        }

        /// Returns the milliseconds that have passed since a fixed time, whatever the clock was set to.
        mutating func elapsed(_ now: Int64) -> Double {
            if latest != .min, now < latest - 5_000 {
                lost += latest - now
                latest = now
            }
            latest = max(latest, now)
            return Double(now + lost)
        }
    }

    private let state: Mutex<State>

    var entries: (addresses: Int, viewers: Int) { state.withLock { ($0.addresses.count, $0.viewers.count) } }

    init(address: Int, viewer: Int) {
        state = Mutex(State(address: address, viewer: viewer))
    }

    /// Nil if the write is allowed; otherwise the whole seconds until it is.
    func wait(_ group: Group, address: String, viewer: String?, now: Int64) -> Int? {
        wait(group, network: Self.network(of: address), viewer: viewer, now: now)
    }

    func wait(_ group: Group, network: Int, viewer: String?, now: Int64) -> Int? {
        let keys = (address: Self.key(group, network), viewer: viewer.map { Self.key(group, $0) })
        return state.withLock { state in
            let now = state.elapsed(now)
            let wait = max(state.addresses.wait(keys.address, now), keys.viewer.map { state.viewers.wait($0, now) } ?? 0)
            guard wait <= 0 else { return max(1, Int((wait / 1_000).rounded(.up))) }
            state.addresses.consume(keys.address, now)
            if let viewer = keys.viewer { state.viewers.consume(viewer, now) }
            return nil
        }
    }

    func pause(_ group: Group, network: Int, now: Int64) -> Int? {
        let wait = state.withLock { state in state.addresses.wait(Self.key(group, network), state.elapsed(now)) }
        return wait <= 0 ? nil : max(1, Int((wait / 1_000).rounded(.up)))
    }

    /// Takes one write from the bucket of an address, even if it is empty. Why: concurrent requests pass ``pause(_:network:now:)`` together.
    func consume(_ group: Group, network: Int, now: Int64) {
        state.withLock { state in state.addresses.consume(Self.key(group, network), state.elapsed(now)) }
    }

    /// Returns a hash of an address; of an IPv6 address, of its network (/64), because one client controls all of it.
    static func network(of address: String) -> Int {
        var hasher = Hasher()
        if let bytes = AddressPrivacy.bytes(of: address) {
            hasher.combine(bytes.count == 4 ? bytes[...] : bytes.prefix(8))
        } else {
            hasher.combine(address)
        }
        return hasher.finalize()
    }

    /// Returns a hash with the random seed of this process. Why: the buckets store no names of viewers.
    private static func key(_ group: Group, _ name: some Hashable) -> Int {
        var hasher = Hasher()
        hasher.combine(group)
        hasher.combine(name)
        return hasher.finalize()
    }
}

/// Token buckets of one size, stored as the time at which each is full again.
private struct Buckets {
    private static let capacity = 65_536
    private static let window = 60_000.0
    /// The maximum number of milliseconds until a bucket is full.
    private static let limit = 1.5 * window

    private let interval: Double
    private var full: [Int: Double] = [:]

    var count: Int { full.count }

    init(rate: Int) {
        interval = Self.window / Double(max(1, rate))
    }

    /// Returns the milliseconds until the bucket allows a write; 0 or less if it allows one now.
    func wait(_ key: Int, _ now: Double) -> Double { time(key, now) + interval - now - Self.window }

    mutating func consume(_ key: Int, _ now: Double) {
        if full.count >= Self.capacity, full[key] == nil {
            full = full.filter { $0.value > now }
            if full.count > Self.capacity / 2 {
                let median = full.values.sorted()[full.count / 2]
                full = full.filter { $0.value > median }
            }
        }
        full[key] = min(time(key, now) + interval, now + Self.limit)
    }

    private func time(_ key: Int, _ now: Double) -> Double { max(now, full[key] ?? now) }
}
