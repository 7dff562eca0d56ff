internal import IntertwineFeed
internal import Synchronization

/// Limits how often an address and a viewer may write.
///
/// Each address and each viewer has a token bucket for each group of routes: a bucket holds the writes of a minute and refills evenly. The
/// buckets are in memory, so replicas count apart, and a restart fills them.
///
/// Why: what one write leaves on the disk is bounded, and so has to be how many of them anybody can make.
final class WriteLimiter: Sendable {
    /// Routes that share their buckets.
    enum Group: Hashable { case actions, events, clients }

    private struct State {
        var addresses: Buckets
        var viewers: Buckets
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - address: writes per minute of one address; of IPv6, of one network (/64).
    ///   - viewer: writes per minute of one viewer.
    init(address: Int, viewer: Int) {
        state = Mutex(State(addresses: Buckets(rate: address), viewers: Buckets(rate: viewer)))
    }

    /// Takes one write from the buckets of its client, if both have one.
    ///
    /// - Parameters:
    ///   - address: the client's whole address.
    ///   - viewer: nil if the request names none.
    ///   - now: milliseconds since 1970-01-01 UTC.
    /// - Returns: nil if the write may go on; else whole seconds until it may.
    func wait(_ group: Group, address: String, viewer: String?, now: Int64) -> Int? {
        let network = AddressPrivacy.bytes(of: address).map { $0.count == 4 ? $0 : Array($0.prefix(8)) } ?? Array(address.utf8)
        let keys = (address: Self.key(group, network), viewer: viewer.map { Self.key(group, Array($0.utf8)) })
        return state.withLock { state in
            let now = Double(now)
            let wait = max(state.addresses.wait(keys.address, now), keys.viewer.map { state.viewers.wait($0, now) } ?? 0)
            guard wait <= 0 else { return max(1, Int((wait / 1_000).rounded(.up))) }
            state.addresses.take(keys.address, now)
            if let viewer = keys.viewer { state.viewers.take(viewer, now) }
            return nil
        }
    }

    /// A hash that another process makes differently: names of viewers take no memory.
    private static func key(_ group: Group, _ name: [UInt8]) -> Int {
        var hasher = Hasher()
        hasher.combine(group)
        hasher.combine(name)
        return hasher.finalize()
    }
}

/// Token buckets of one size, by the time at which each is full again. A full bucket needs no entry.
private struct Buckets {
    /// Entries at most. If more clients write at once, all are forgotten.
    private static let capacity = 65_536
    /// Milliseconds in which an empty bucket fills.
    private static let window = 60_000.0

    /// Milliseconds in which one write comes back.
    private let interval: Double
    private var full: [Int: Double] = [:]

    init(rate: Int) {
        interval = Self.window / Double(max(1, rate))
    }

    /// Milliseconds until the bucket has a write to give; 0 or less if it has one.
    func wait(_ key: Int, _ now: Double) -> Double { time(key, now) + interval - now - Self.window }

    mutating func take(_ key: Int, _ now: Double) {
        if full.count >= Self.capacity, full[key] == nil {
            full = full.filter { $0.value > now }
            if full.count > Self.capacity / 2 { full = [:] }
        }
        full[key] = time(key, now) + interval
    }

    /// When the bucket is full. One that would take longer than a window was filled by a clock that was ahead.
    private func time(_ key: Int, _ now: Double) -> Double {
        guard let time = full[key], time <= now + Self.window else { return now }
        return max(now, time)
    }
}
