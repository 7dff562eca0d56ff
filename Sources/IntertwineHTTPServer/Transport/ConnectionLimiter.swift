internal import Synchronization

final class ConnectionLimiter: Sendable {
    private struct Counts {
        var total = 0
        var limit: Int
        /// The number of connections by ``PeerAddress/network``, because one client has all addresses of an IPv6 network.
        var peers: [PeerAddress: Int] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    enum Admission {
        case admitted(open: Int, isCrowded: Bool)
        case full
        case peerIsFull
    }

    private let counts: Mutex<Counts>
    private let peerLimit: Int?

    init(limit: Int, peerLimit: Int?) {
        self.counts = Mutex(Counts(limit: limit))
        self.peerLimit = peerLimit
    }

    func lower(to limit: Int) {
        counts.withLock { $0.limit = min($0.limit, max(1, limit)) }
    }

    var total: Int { counts.withLock { $0.total } }

    func acquire(_ peer: PeerAddress) -> Admission {
        counts.withLock { counts in
            if counts.total >= counts.limit { return .full }
            if let peerLimit {
                let present = counts.peers[peer.network, default: 0]
                if present >= peerLimit { return .peerIsFull }
                counts.peers[peer.network] = present + 1
            }
            counts.total += 1
            return .admitted(open: counts.total, isCrowded: counts.total >= counts.limit - counts.limit / 5)
        }
    }

    func release(_ peer: PeerAddress) -> Int {
        let (left, waiters) = counts.withLock { counts in
            counts.total -= 1
            if peerLimit != nil, let present = counts.peers[peer.network] {
                counts.peers[peer.network] = present > 1 ? present - 1 : nil
            }
            guard counts.total == 0 else { return (counts.total, [CheckedContinuation<Void, Never>]()) }
            defer { counts.waiters = [] }
            return (0, counts.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return left
    }

    func empty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = counts.withLock { counts in
                if counts.total > 0 { counts.waiters.append(continuation) }
                return counts.total == 0
            }
            if isEmpty { continuation.resume() }
        }
    }
}
