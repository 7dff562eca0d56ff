import IntertwinePrimitives
import Testing

@testable import IntertwineIdentity

@Suite("Cache of verified tokens")
struct TokenCacheTests {
    private let now = TokenMaker.now

    @Test("A cached token ends with its expiry and leeway")
    func expiry() async throws {
        let maker = try await TokenMaker(.hs256)
        let verifier = try await maker.verifier { $0.leeway = 5_000 }
        let token = try maker.token(#"{"sub":"ada","exp":\#(now / 1_000 + 60)}"#)
        _ = try await verifier.verify(token, now: now)
        #expect(verifier.cached(token, now: now + 64_999) != nil)
        #expect(verifier.cached(token, now: now + 65_000) == nil)
        await #expect(throws: TokenError.expired) { try await verifier.verify(token, now: now + 65_000) }
    }

    @Test("A rejected token is not cached")
    func rejected() async throws {
        let maker = try await TokenMaker(.hs256)
        let verifier = try await maker.verifier()
        let good = try maker.token()
        _ = try await verifier.verify(good, now: now)
        for number in 0..<5_000 {
            _ = try? await verifier.verify(HMACToken.token(secret: [1], header: #"{"alg":"HS256"}"#, payload: "\(number)"), now: now)
        }
        #expect(verifier.cacheUsage.entries == 1)
        #expect(verifier.cached(good, now: now) != nil)
    }

    @Test("Entries and bytes are bounded, and tokens in use remain")
    func bounds() async throws {
        let maker = try await TokenMaker(.hs256)
        let key = try #require(try await maker.document().keys.first)
        for (entries, bytes) in [(1_600, 100_000_000), (1_000_000, 400_000)] {
            let cache = TokenCache(entries: entries, bytes: bytes)
            func digest(_ number: Int) -> TokenDigest { TokenDigest(Array("\(number)".utf8).span) }
            for number in 0..<20_000 {
                let entry = TokenCache.Entry(identity: VerifiedIdentity(subject: "viewer \(number)"), key: key, end: .max)
                cache.insert(entry, of: digest(number))
                // One token is used all the time.
                #expect(cache.identity(of: digest(0), now: now) != nil, "\(number)")
                let usage = cache.usage
                #expect(usage.entries <= entries && usage.bytes <= bytes)
            }
            #expect(cache.usage.entries > 500)
        }
    }

    @Test("An identity larger than a generation is not cached")
    func large() async throws {
        let maker = try await TokenMaker(.hs256)
        let verifier = try await maker.verifier(bytes: 16_000)
        let token = try maker.token(#"{"sub":"\#(String(repeating: "a", count: 2_000))","exp":\#(now / 1_000 + 60)}"#)
        _ = try await verifier.verify(token, now: now)
        #expect(verifier.cacheUsage.entries == 0)
    }

    @Test("A token that was seen before takes at most 3 µs")
    func hits() async throws {
        let maker = try await TokenMaker(.es256)
        let verifier = try await maker.verifier()
        // A long token of an identity provider.
        let token = try maker.token(claims("\"x\":\"\(String(repeating: "x", count: 700))\""))
        #expect(token.count > 1_100)
        _ = try await verifier.verify(token, now: now)
        var best = Duration.seconds(1)
        for _ in 0..<20 {
            let start = ContinuousClock.now
            for _ in 0..<1_000 { discard(verifier.cached(token, now: now)) }
            best = min(best, (ContinuousClock.now - start) / 1_000)
        }
        print("IdentityTests: a token seen before takes \(best)")
        #expect(best < .microseconds(Self.isOptimized ? 3 : 12))
    }

    @Test("A thousand tokens not seen before, half of them forged, are judged in 200 ms", arguments: SignatureAlgorithm.allCases)
    func flood(_ algorithm: SignatureAlgorithm) async throws {
        let maker = try await TokenMaker(algorithm)
        // No entry fits this cache, so each token is verified.
        let verifier = try await maker.verifier(bytes: 1)
        let tokens = try (0..<100).map { try maker.token(claims("\"jti\":\($0)")) }
        let forged = tokens.indices.map { index in
            let parts = tokens[index].split(separator: UInt8(ascii: "."))
            let other = tokens[(index + 1) % tokens.count].split(separator: UInt8(ascii: "."))
            return Array([parts[0], parts[1], other[2]].joined(separator: [UInt8(ascii: ".")]))
        }
        let start = ContinuousClock.now
        for index in 0..<500 {
            _ = try await verifier.verify(tokens[index % tokens.count], now: now)
            await #expect(throws: TokenError.invalidSignature) { try await verifier.verify(forged[index % forged.count], now: now) }
        }
        let time = ContinuousClock.now - start
        print("IdentityTests: a \(algorithm.rawValue) token not seen before takes \(time / 1_000)")
        #expect(verifier.cacheUsage.entries == 0)
        #expect(time < .milliseconds(Self.isOptimized ? 200 : 10_000))
    }

    /// True in an optimized build, for which the bars hold.
    private static var isOptimized: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }

    /// Uses a value, so that the compiler cannot remove its computation.
    @inline(never)
    private func discard(_ identity: VerifiedIdentity?) {}

    @Test("Event loops and tasks use the cache at the same time")
    func concurrency() async throws {
        let maker = try await TokenMaker(.hs256)
        let verifier = try await maker.verifier(entries: 64)
        let tokens = try (0..<200).map { try maker.token(claims("\"jti\":\($0)")) }
        await withTaskGroup { group in
            for offset in 0..<8 {
                group.addTask {
                    for index in 0..<2_000 {
                        let token = tokens[(index * 7 + offset * 13) % tokens.count]
                        if verifier.cached(token, now: TokenMaker.now) == nil {
                            _ = try? await verifier.verify(token, now: TokenMaker.now)
                        }
                    }
                }
            }
        }
        #expect(verifier.cacheUsage.entries <= 64)
    }
}

@Suite("Bearer credentials")
struct BearerCredentialsTests {
    private func token(_ field: String) -> String? {
        BearerCredentials.withToken(in: Array(field.utf8).span) { String(decoding: $0) }
    }

    @Test("The token is read from the field")
    func read() {
        for field in ["Bearer abc", "bearer abc", "BEARER   abc", "Bearer abc  "] { #expect(token(field) == "abc") }
        for field in ["", "Bearer", "Basic abc", "Bearerabc", "Bearer\tabc", "Digest bearer abc"] { #expect(token(field) == nil) }
        #expect(token("Bearer  ") == "")
    }
}
