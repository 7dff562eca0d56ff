/// Verifies bearer tokens and caches the results.
///
/// ``cachedIdentity(of:now:)`` answers for a token that was seen before. It neither suspends nor blocks, so event loops can call
/// it. For other tokens a task calls ``verify(_:now:)``.
package final class TokenVerifier: Sendable {
    private let rules: TokenRules
    private let keys: TokenKeys
    private let cache: TokenCache

    /// - Parameters:
    ///   - entries: The maximum number of cached tokens.
    ///   - bytes: The maximum number of bytes of the cache.
    package init(rules: TokenRules, keys: TokenKeys, entries: Int = 65_536, bytes: Int = 32_000_000) {
        (self.rules, self.keys) = (rules, keys)
        cache = TokenCache(entries: entries, bytes: bytes)
    }

    /// The numbers of entries and of bytes in the cache.
    package var cacheUsage: (entries: Int, bytes: Int) { cache.usage }

    /// Returns the sender of a token that was verified before, is still valid, and whose key is still in use; otherwise nil.
    ///
    /// - Parameter now: Milliseconds since 1970-01-01 UTC.
    package func cachedIdentity(of token: Span<UInt8>, now: Int64) -> VerifiedIdentity? {
        guard token.count <= CompactToken.maximumLength else { return nil }
        return cache.identity(of: TokenDigest(token), now: now)
    }

    /// Verifies a token.
    ///
    /// The signature is verified first: claims of a token that the issuer did not sign are not read.
    ///
    /// - Parameter now: Milliseconds since 1970-01-01 UTC.
    package func verify(_ token: [UInt8], now: Int64) async throws(TokenError) -> VerifiedIdentity {
        if let known = cachedIdentity(of: token.span, now: now) { return known }
        let parsed = try CompactToken(token)
        guard rules.algorithms.contains(parsed.algorithm) else { throw .unsupportedAlgorithm }
        let candidates = try await keys.candidates(for: parsed, now: now)
        guard let key = candidates.first(where: { $0.isValid(parsed.signature, of: parsed.signed) }) else { throw .invalidSignature }
        let claims = try TokenClaims(parsed.payload, rules: rules)
        try claims.check(now: now, leeway: rules.leeway)
        cache.insert(
            TokenCache.Entry(identity: claims.identity, key: key, end: claims.expiry + rules.leeway), of: TokenDigest(token.span))
        return claims.identity
    }
}
