import Testing

@testable import IntertwinePrimitives
@testable import IntertwineService

@Suite("Cache of verified tokens")
struct TokenCacheTests {
    private let now = TokenMaker.now

    @Test("A cached token ends with its expiry and leeway")
    func expiry() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.leeway = 5_000 }
        let token = try maker.token(#"{"sub":"ada","exp":\#(now / 1_000 + 60)}"#)
        _ = try await verifier.verify(token, now: now)
        #expect(verifier.cached(token, now: now + 64_999) != nil)
        #expect(verifier.cached(token, now: now + 65_000) == nil)
        await #expect(throws: TokenError.expired) { try await verifier.verify(token, now: now + 65_000) }
        // The look-up removed it.
        #expect(verifier.cacheUsage.entries == 0)
    }

    @Test("Expired tokens that are not used again are removed")
    func removal() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.leeway = 0 }
        for number in 1...20 {
            _ = try await verifier.verify(try maker.token(#"{"sub":"ada","exp":\#(now / 1_000 + Int64(number))}"#), now: now)
        }
        verifier.removeInvalid(now: now + 5_000)
        #expect(verifier.cacheUsage.entries == 15)
        verifier.removeInvalid(now: now + 20_000)
        #expect(verifier.cacheUsage == (0, 0))
    }

    @Test("A rejected token is not cached")
    func rejected() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier()
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
        let maker = try TokenMaker(.hs256)
        let key = try #require(try maker.document().keys.first)
        for (entries, bytes) in [(1_600, 100_000_000), (1_000_000, 400_000)] {
            let cache = TokenCache(entries: entries, bytes: bytes)
            func digest(_ number: Int) -> TokenDigest { TokenDigest(Array("\(number)".utf8).span) }
            for number in 0..<20_000 {
                let entry = TokenCache.Entry(identity: VerifiedIdentity(subject: "viewer \(number)"), key: key)
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
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier(bytes: 16_000)
        let token = try maker.token(#"{"sub":"\#(String(repeating: "a", count: 2_000))","exp":\#(now / 1_000 + 60)}"#)
        _ = try await verifier.verify(token, now: now)
        #expect(verifier.cacheUsage.entries == 0)
    }

    @Test("Many tokens not seen before, half of them forged, are verified one by one", arguments: SignatureAlgorithm.allCases)
    func flood(_ algorithm: SignatureAlgorithm) async throws {
        let maker = try TokenMaker(algorithm)
        // No entry fits this cache, so each token is verified.
        let verifier = try maker.verifier(bytes: 1)
        let tokens = try (0..<100).map { try maker.token(claims("\"jti\":\($0)")) }
        let forged = tokens.indices.map { index in
            let parts = tokens[index].split(separator: UInt8(ascii: "."))
            let other = tokens[(index + 1) % tokens.count].split(separator: UInt8(ascii: "."))
            return Array([parts[0], parts[1], other[2]].joined(separator: [UInt8(ascii: ".")]))
        }
        for index in 0..<500 {
            _ = try await verifier.verify(tokens[index % tokens.count], now: now)
            await #expect(throws: TokenError.invalidSignature) { try await verifier.verify(forged[index % forged.count], now: now) }
        }
        #expect(verifier.cacheUsage.entries == 0)
    }

    @Test("Event loops and tasks use the cache at the same time")
    func concurrency() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier(entries: 64)
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
        for field in ["", "Basic abc", "Bearerabc", "Digest bearer abc"] { #expect(token(field) == nil) }
        // Malformed credentials are not anonymous.
        for field in ["Bearer", "Bearer  "] { #expect(token(field) == "") }
        #expect(token("Bearer\tabc") == "\tabc")
    }
}
