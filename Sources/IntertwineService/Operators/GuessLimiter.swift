internal import IntertwineHTTPServer
internal import Synchronization

/// Slows down whoever guesses at the token: after ten wrong ones within a minute an address is not listened to until the minute is over.
final class GuessLimiter: Sendable {
    /// Wrong tokens of one address within ``window``.
    static let limit = 10
    static let window = Duration.seconds(60)
    /// Addresses that are remembered; beyond it, the one whose window began first is forgotten.
    static let capacity = 4_096

    private struct Guesses {
        var count = 0
        var end: ContinuousClock.Instant
    }

    private let addresses = Mutex<[PeerAddress.Network: Guesses]>([:])
    /// Monotonic: setting the clock neither ends a window nor draws it out.
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Whole seconds until the address is listened to again; nil where it is now.
    func wait(of peer: PeerAddress) -> Int? {
        let now = now()
        return addresses.withLock { addresses in
            guard let guesses = addresses[peer.network], guesses.count >= Self.limit, now < guesses.end else { return nil }
            return max(1, Int((guesses.end - now).components.seconds) + 1)
        }
    }

    /// Takes note of a wrong token.
    ///
    /// - Returns: whether it was the last that is listened to.
    func fail(_ peer: PeerAddress) -> Bool {
        let now = now()
        return addresses.withLock { addresses in
            var guesses = addresses[peer.network] ?? Guesses(end: now + Self.window)
            if now >= guesses.end { guesses = Guesses(end: now + Self.window) }
            if addresses[peer.network] == nil, addresses.count >= Self.capacity { Self.makeRoom(in: &addresses, now) }
            guesses.count += 1
            addresses[peer.network] = guesses
            return guesses.count == Self.limit
        }
    }

    private static func makeRoom(in addresses: inout [PeerAddress.Network: Guesses], _ now: ContinuousClock.Instant) {
        addresses = addresses.filter { now < $0.value.end }
        guard addresses.count >= capacity, let oldest = addresses.min(by: { $0.value.end < $1.value.end }) else { return }
        addresses[oldest.key] = nil
    }
}
