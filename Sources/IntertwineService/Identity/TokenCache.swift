internal import IntertwinePrimitives
internal import Synchronization

/// The cache stores digests, so that memory holds no credentials.
struct TokenDigest: Hashable, Sendable {
    private let bytes: SHA256Digest

    init(_ token: Span<UInt8>) {
        bytes = token.withUnsafeBytes { SHA256.hash(data: $0) }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(word) }

    var word: UInt64 { bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
}

/// A hit in the previous generation moves the entry to the recent one. Thus eviction costs a constant time per entry, and tokens in use
/// remain. Rejected tokens are not stored, so they cannot evict valid ones.
final class TokenCache: Sendable {
    struct Entry: Sendable {
        var identity: VerifiedIdentity
        var key: VerificationKey

        var size: Int { identity.size + 96 }

        func isValid(now: Int64) -> Bool { now < identity.end && !key.isRevoked }
    }

    private struct Generation: Sendable {
        var entries: [TokenDigest: Entry] = [:]
        var bytes = 0
    }

    private final class Shard: Sendable {
        let state = Mutex((recent: Generation(), previous: Generation()))
    }

    private static let shardCount = 16

    private let shards: [Shard]
    private let maximumEntries: Int
    private let maximumBytes: Int

    init(entries: Int, bytes: Int) {
        shards = (0..<Self.shardCount).map { _ in Shard() }
        maximumEntries = max(1, entries / Self.shardCount / 2)
        maximumBytes = max(1, bytes / Self.shardCount / 2)
    }

    var usage: (entries: Int, bytes: Int) {
        shards.reduce((0, 0)) { sum, shard in
            shard.state.withLock { state in
                (sum.0 + state.recent.entries.count + state.previous.entries.count, sum.1 + state.recent.bytes + state.previous.bytes)
            }
        }
    }

    func identity(of token: TokenDigest, now: Int64) -> VerifiedIdentity? {
        let shard = shard(of: token)
        let (found, isRecent) = shard.state.withLock { state -> (Entry?, Bool) in
            if let entry = state.recent.entries[token] { return (entry, true) }
            return (state.previous.entries[token], false)
        }
        guard let found else { return nil }
        guard found.isValid(now: now) else {
            shard.state.withLock { Self.remove(token, &$0) }
            return nil
        }
        if !isRecent { insert(found, of: token) }
        return found.identity
    }

    func insert(_ entry: Entry, of token: TokenDigest) {
        let size = entry.size
        guard size <= maximumBytes else { return }
        // The evicted generation is deallocated after the lock is released.
        let evicted = shard(of: token).state.withLock { state -> Generation? in
            Self.remove(token, &state)
            var evicted: Generation?
            if state.recent.entries.count >= maximumEntries || state.recent.bytes + size > maximumBytes {
                evicted = state.previous
                (state.previous, state.recent) = (state.recent, Generation())
            }
            state.recent.entries[token] = entry
            state.recent.bytes += size
            return evicted
        }
        _ = evicted
    }

    func removeInvalid(now: Int64) {
        for shard in shards {
            shard.state.withLock { state in
                for generation in [state.recent, state.previous] {
                    for (token, entry) in generation.entries where !entry.isValid(now: now) { Self.remove(token, &state) }
                }
            }
        }
    }

    private static func remove(_ token: TokenDigest, _ state: inout (recent: Generation, previous: Generation)) {
        if let old = state.previous.entries.removeValue(forKey: token) { state.previous.bytes -= old.size }
        if let old = state.recent.entries.removeValue(forKey: token) { state.recent.bytes -= old.size }
    }

    private func shard(of token: TokenDigest) -> Shard { shards[Int(token.word % UInt64(Self.shardCount))] }
}
