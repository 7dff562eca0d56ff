internal import IntertwineStorageCore

/// Other keys are treated as new without a look-up. Why: nearly every click has two new keys, and looking them up costs the server as much
/// as writing them.
/// If that happens often, because viewers return through other replicas, speculation pauses.
struct SeenKeyFilter {
    private var young = Generation()
    private var old = Generation()
    private var (cooldown, backoff): (Int, Int) = (0, 1)

    private static let longestPause = 1_024

    var isGuessing: Bool { cooldown == 0 }

    func isNew(_ key: RateCounterKey) -> Bool { !young.contains(key) && !old.contains(key) }

    mutating func insert(_ key: RateCounterKey) {
        guard !young.contains(key) else { return }
        if young.isFull {
            old = young
            young = Generation()
        }
        young.insert(key)
    }

    /// One in five may be wrong: a mistake costs a group, which looking up makes a fifth dearer.
    mutating func hasEnded(_ guess: SpeculationOutcome) {
        switch guess {
        case .none: cooldown = max(0, cooldown - 1)
        case .right: backoff = max(1, backoff / 2)
        case .wrong:
            backoff = min(Self.longestPause, backoff * 16)
            cooldown = backoff
        }
    }

    /// The outcome of a group: all keys were looked up, the guess was right, or it was wrong.
    enum SpeculationOutcome {
        case none, right, wrong
    }

    /// A Bloom filter of keys that are digests, so that their own bits select the positions.
    private struct Generation {
        private static let size = 1 << 22
        private static let capacity = size / 10

        private var words: [UInt64] = []
        private var count = 0

        var isFull: Bool { count >= Self.capacity }

        func contains(_ key: RateCounterKey) -> Bool {
            guard !words.isEmpty else { return false }
            let bits = key.bitIndexes
            return bits.indices.allSatisfy { words[bits[$0] % Self.size / 64] & 1 << (bits[$0] % 64) != 0 }
        }

        mutating func insert(_ key: RateCounterKey) {
            if words.isEmpty { words = [UInt64](repeating: 0, count: Self.size / 64) }
            let bits = key.bitIndexes
            for number in bits.indices { words[bits[number] % Self.size / 64] |= 1 << (bits[number] % 64) }
            count += 1
        }
    }
}
