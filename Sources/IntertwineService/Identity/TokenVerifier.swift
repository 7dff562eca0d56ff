internal import Dispatch
internal import IntertwinePrimitives
internal import Synchronization

/// One thread verifies signatures, and a bounded number of tokens waits for it. Why: different tokens, as many as an attacker can send,
/// leave the other processors to other requests.
package final class TokenVerifier: Sendable {
    private let rules: TokenRules
    private let keys: TokenKeys
    private let cache: TokenCache
    private let queue = DispatchQueue(label: "tokens")
    private let waiting = Atomic(0)
    private let counts = Mutex<[TokenError?: Int]>([:])

    static let maximumWaiting = 1_024

    package init(rules: TokenRules, keys: TokenKeys, entries: Int = 65_536, bytes: Int = 32_000_000) {
        (self.rules, self.keys) = (rules, keys)
        cache = TokenCache(entries: entries, bytes: bytes)
    }

    var cacheUsage: (entries: Int, bytes: Int) { cache.usage }

    package var outcomes: [(name: String, count: Int)] {
        let counts = counts.withLock { $0 }
        return [("valid", counts[nil] ?? 0)] + TokenError.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
    }

    func removeInvalid(now: Int64) { cache.removeInvalid(now: now) }

    /// Returns the sender of a token that was verified before, is still valid, and whose key is still in use; otherwise nil.
    package func cachedIdentity(of token: Span<UInt8>, now: Int64) -> VerifiedIdentity? {
        guard token.count <= CompactToken.maximumLength else { return nil }
        return cache.identity(of: TokenDigest(token), now: now)
    }

    package func verify(_ token: [UInt8], now: Int64) async throws(TokenError) -> VerifiedIdentity {
        if let known = cachedIdentity(of: token.span, now: now) { return known }
        do throws(TokenError) {
            let entry = try await entry(for: token, now: now)
            cache.insert(entry, of: TokenDigest(token.span))
            counts.withLock { $0[nil, default: 0] += 1 }
            return entry.identity
        } catch {
            counts.withLock { $0[error, default: 0] += 1 }
            throw error
        }
    }

    private func entry(for token: [UInt8], now: Int64) async throws(TokenError) -> TokenCache.Entry {
        let parsed = try CompactToken(token)
        guard rules.algorithms.contains(parsed.algorithm) else { throw .unsupportedAlgorithm }
        let candidates = try await keys.candidates(for: parsed, now: now)
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.maximumWaiting else { throw .overloaded }
        return try await queue.perform { [rules] () throws(TokenError) in try Self.entry(for: parsed, candidates, rules, now: now) }
    }

    private static func entry(
        for token: CompactToken, _ candidates: [VerificationKey], _ rules: TokenRules, now: Int64
    ) throws(TokenError) -> TokenCache.Entry {
        guard let key = candidates.first(where: { $0.isValid(token.signature, of: token.signed) }) else { throw .invalidSignature }
        let claims = try TokenClaims(token.payload, rules: rules)
        try claims.check(now: now, leeway: rules.leeway)
        var identity = claims.identity
        identity.revocation = Revocation(key: key)
        return TokenCache.Entry(identity: identity, key: key)
    }
}
