import Testing

@testable import IntertwinePrimitives
@testable import IntertwineService

@Suite("Verification of tokens")
struct TokenVerifierTests {
    private let now = TokenMaker.now
    /// The sender of the default token.
    private static let ada = VerifiedIdentity(subject: "ada", end: TokenMaker.now + 3_630_000)

    /// Returns the reason for which a token is rejected; nil if it is accepted.
    private func rejection(of token: [UInt8], by verifier: TokenVerifier, now: Int64 = TokenMaker.now) async -> TokenError? {
        do throws(TokenError) {
            _ = try await verifier.verify(token, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test("A token of each algorithm identifies its sender", arguments: SignatureAlgorithm.allCases)
    func valid(_ algorithm: SignatureAlgorithm) async throws {
        for id in [nil, "k1"] {
            let maker = try TokenMaker(algorithm, id: id)
            let verifier = try maker.verifier()
            let token = try maker.token()
            #expect(verifier.cached(token, now: now) == nil)
            #expect(try await verifier.verify(token, now: now) == Self.ada)
            #expect(verifier.cached(token, now: now) == Self.ada)
        }
    }

    @Test("If more than 1,024 tokens wait for their verification, further ones are rejected, and known ones are not")
    func overload() async throws {
        let maker = try TokenMaker(.es256)
        let verifier = try maker.verifier()
        let token = try maker.token()
        #expect(try await verifier.verify(token, now: now) == Self.ada)
        let outcomes = await withTaskGroup(of: TokenError?.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    var forged = token
                    forged.replaceSubrange(forged.count - 20..<forged.count - 12, with: String(10_000_000 + number).utf8)
                    return await rejection(of: forged, by: verifier)
                }
            }
            #expect(verifier.cached(token, now: now) == Self.ada)
            return await group.reduce(into: [TokenError?: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes[.overloaded, default: 0] > 0 && outcomes[.invalidSignature, default: 0] >= 1_024, "\(outcomes)")
        #expect(outcomes[.overloaded, default: 0] + outcomes[.invalidSignature, default: 0] == 10_000, "\(outcomes)")
        // The queue is empty again.
        #expect(try await verifier.verify(try maker.token(#"{"sub":"bob","exp":\#(now / 1_000 + 60)}"#), now: now).subject == "bob")
    }

    @Test("The tokens of RFC 7515 are verified", arguments: RFC7515.tokens)
    func vectors(_ key: String, _ token: String) async throws {
        let document = try KeyDocument(Array(key.utf8), origin: .file, algorithms: Set(SignatureAlgorithm.allCases))
        var rules = TokenRules(subject: try #require(ClaimPath("iss")))
        rules.attributes = [.init(name: "root", path: try #require(ClaimPath(#""http://example.com/is_root""#)))]
        let verifier = TokenVerifier(rules: rules, keys: TokenKeys([document]))
        let identity = try await verifier.verify(Array(token.utf8), now: 1_300_819_379_000)
        #expect(identity == VerifiedIdentity(subject: "joe", attributes: ["root=true"], end: 1_300_819_380_000 + rules.leeway))
        #expect(await rejection(of: Array(token.utf8), by: verifier, now: 1_300_819_380_000 + rules.leeway) == .expired)
    }

    @Test("A changed byte makes a token invalid", arguments: SignatureAlgorithm.allCases)
    func changed(_ algorithm: SignatureAlgorithm) async throws {
        let maker = try TokenMaker(algorithm)
        let verifier = try maker.verifier()
        let token = try maker.token()
        for index in stride(from: 0, to: token.count, by: 7) {
            var changed = token
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(await rejection(of: changed, by: verifier) != nil, "byte \(index)")
        }
        #expect(await rejection(of: token + [UInt8(ascii: "A")], by: verifier) != nil)
        #expect(await rejection(of: token.dropLast(), by: verifier) != nil)
        #expect(verifier.cacheUsage.entries == 0)
    }

    @Test("A token of another key is invalid", arguments: SignatureAlgorithm.allCases)
    func foreign(_ algorithm: SignatureAlgorithm) async throws {
        let (maker, stranger) = (try TokenMaker(algorithm, id: "k1"), try TokenMaker(algorithm, id: "k1"))
        #expect(await rejection(of: try stranger.token(), by: try maker.verifier()) == .invalidSignature)
    }

    @Test("A token without a signature is refused", arguments: ["none", "None", "NONE", "nOnE", "", "HS384", "RS512", "PS256", "ES384"])
    func unsigned(_ algorithm: String) async throws {
        for maker in [try TokenMaker(.hs256), try TokenMaker(.rs256)] {
            let verifier = try maker.verifier()
            let token = try maker.token(header: "{\"alg\":\"\(algorithm)\"}")
            #expect(await rejection(of: token, by: verifier) == .unsupportedAlgorithm)
            let end = try #require(token.lastIndex(of: UInt8(ascii: ".")))
            #expect(await rejection(of: Array(token[...end]), by: verifier) == .unsupportedAlgorithm)
            #expect(await rejection(of: Array(token[..<end]), by: verifier) == .malformed)
        }
        // An empty signature with a supported algorithm.
        let maker = try TokenMaker(.rs256)
        let token = try maker.token()
        let end = try #require(token.lastIndex(of: UInt8(ascii: ".")))
        #expect(await rejection(of: Array(token[...end]), by: try maker.verifier()) == .invalidSignature)
    }

    @Test("A public key does not verify as a secret", arguments: [SignatureAlgorithm.rs256, .es256, .edDSA])
    func confusion(_ algorithm: SignatureAlgorithm) async throws {
        let maker = try TokenMaker(algorithm, id: "k1")
        let verifier = try maker.verifier()
        let modulus = maker.jwk.split(separator: "\"n\":\"").last?.prefix { $0 != "\"" } ?? ""
        for secret in [maker.pem, maker.pem + "\n", maker.jwk, String(modulus)] where !secret.isEmpty {
            for header in [#"{"alg":"HS256","kid":"k1"}"#, #"{"alg":"HS256"}"#] {
                let token = HMACToken.token(secret: Array(secret.utf8), header: header, payload: claims())
                #expect(await rejection(of: token, by: verifier) == .unknownKey)
            }
        }
        // Nor does another algorithm use the key.
        for other in SignatureAlgorithm.allCases where other != algorithm {
            let token = try maker.token(header: "{\"alg\":\"\(other.rawValue)\",\"kid\":\"k1\"}")
            #expect(await rejection(of: token, by: verifier) == .unknownKey)
        }
    }

    @Test("A key in the header of a token is ignored")
    func embedded() async throws {
        let (maker, stranger) = (try TokenMaker(.es256), try TokenMaker(.es256))
        let verifier = try maker.verifier()
        let url = "http://127.0.0.1:9/jwks"
        for member in ["\"jwk\":\(stranger.jwk)", "\"jku\":\"\(url)\"", "\"x5u\":\"\(url)\"", "\"x5c\":[\"AAAA\"]"] {
            let token = try stranger.token(header: "{\"alg\":\"ES256\",\(member)}")
            #expect(await rejection(of: token, by: verifier) == .invalidSignature)
        }
    }

    @Test("An algorithm that the configuration does not accept is refused, though the key is known")
    func accepted() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.algorithms = [.rs256] }
        #expect(await rejection(of: try maker.token(), by: verifier) == .unsupportedAlgorithm)
    }

    @Test(
        "A token for another purpose or with unknown extensions is refused",
        arguments: [
            #""typ":"logout+jwt""#, #""typ":"dpop+jwt""#, #""typ":"secevent+jwt""#, #""typ":"""#, #""crit":["b64"],"b64":false"#,
            #""crit":[]"#,
        ])
    func type(_ member: String) async throws {
        let maker = try TokenMaker(.es256)
        let token = try maker.token(header: "{\"alg\":\"ES256\",\(member)}")
        #expect(await rejection(of: token, by: try maker.verifier()) == .unsupportedType)
    }

    @Test("Identity tokens and access tokens are accepted", arguments: ["JWT", "jwt", "at+jwt", "application/at+jwt", "application/JWT"])
    func types(_ type: String) async throws {
        let maker = try TokenMaker(.es256)
        let token = try maker.token(header: "{\"alg\":\"ES256\",\"typ\":\"\(type)\"}")
        #expect(await rejection(of: token, by: try maker.verifier()) == nil)
    }

    @Test(
        "Text that is no token is malformed",
        arguments: [
            "", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.AA", "eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJIUzI1NiJ9.e30.AA==", "W10.e30.AA",
            "eyJhbGciOjF9.e30.AA", "a.b.c.d.e", "eyJhbGciOiJIUzI1NiIsImtpZCI6N30.e30.AA", "\u{0}.\u{0}.\u{0}",
            "eyJhbGciOiJIUzI1NiJ9 .e30.AA",
        ])
    func malformed(_ text: String) async throws {
        let verifier = try TokenMaker(.hs256).verifier()
        #expect(await rejection(of: Array(text.utf8), by: verifier) == .malformed)
    }

    @Test(
        "A signed payload that is no object of claims is malformed",
        arguments: [
            "", "[]", "7", "\"ada\"", "{", #"{"sub":"ada","exp":"tomorrow"}"#, #"{"sub":"ada","exp":-1}"#, #"{"sub":"ada","exp":1e999}"#,
        ])
    func payloads(_ payload: String) async throws {
        let maker = try TokenMaker(.hs256)
        #expect(await rejection(of: try maker.token(payload), by: try maker.verifier()) == .malformed)
    }

    @Test(
        "Two claims of one name make a token malformed if the claim is used",
        arguments: [
            #""sub":"eve""#, #""\u0073ub":"eve""#, #""exp":4102444800"#, #""nbf":1,"nbf":1"#,
            #""a":{"roles":[],"b":1,"roles":[]}"#, #""a":{"roles":[]},"a":{"b":1}"#, #""tier":"a","t\u0069er":"b""#,
        ])
    func duplicates(_ members: String) async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { rules in
            rules.roles = ClaimPath("a.roles")
            rules.attributes = ClaimPath("tier").map { [.init(name: "tier", path: $0)] } ?? []
        }
        #expect(await rejection(of: try maker.token(claims(members)), by: verifier) == .malformed)
        // A name may occur in different objects.
        #expect(await rejection(of: try maker.token(claims(#""a":{"sub":"eve"},"b":[{"x":1},{"x":1}]"#)), by: verifier) == nil)
    }

    @Test(
        "A claim that is not used may have any value, and one that is used must be readable",
        arguments: [
            #""x":"\ud800""#, #""x":"\udc00 \ud83d""#, #""\ud800":1"#, #""x":1,"x":2"#, #""\u00e9":1,"e\u0301":1"#, #""x":NaN"#,
            #""x":-Infinity"#, #""x":007"#, #""x":1e999"#, #""x":123456789012345678901234567890"#, #""x":"\q""#, "\"x\":\"\u{1}\"",
            #""x":{"y":1,"y":{"z":NaN}}"#, #""x":[1,{"b":1,"b":2}]"#, #""iss":NaN"#, #""iss":["a"]"#, #""x":{"sub":"eve","exp":1}"#,
            #""x":"{\"sub\":\"eve\"}""#, "DEEP",
        ])
    func unused(_ members: String) async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.roles = ClaimPath("a.roles") }
        let deep = String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)
        let members = members.replacing("DEEP", with: "\"x\":\(deep)")
        let nested = #""a":{\#(members),"roles":["admin"]}"#
        for token in try [maker.token(claims(members)), maker.token(claims(nested))] {
            #expect(try await verifier.verify(token, now: now).subject == "ada")
        }
        #expect(try await verifier.verify(maker.token(claims(nested)), now: now).roles == ["admin"])
        let used = members.replacing("\"x\":", with: "\"nbf\":")
        if used != members { #expect(await rejection(of: try maker.token(claims(used)), by: verifier) != nil) }
    }

    @Test(
        "Two header parameters of one name make a token malformed",
        arguments: [#""alg":"none""#, #""alg":"HS256""#, #""kid":"a","kid":"b""#, #""\u0061lg":"HS256""#])
    func repeatedParameters(_ members: String) async throws {
        let maker = try TokenMaker(.hs256)
        let token = try maker.token(header: "{\"alg\":\"HS256\",\(members)}")
        #expect(await rejection(of: token, by: try maker.verifier()) == .malformed)
    }

    @Test("Deeply nested JSON is refused without harm")
    func nested() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier()
        let deep = String(repeating: "[", count: 4_000) + String(repeating: "]", count: 4_000)
        #expect(await rejection(of: try maker.token(header: "{\"alg\":\"HS256\",\"x\":\(deep)}"), by: verifier) == .malformed)
        #expect(await rejection(of: try maker.token(claims("\"nbf\":\(deep)")), by: verifier) == .malformed)
    }

    @Test("A token of 100 kB is refused before it is read")
    func long() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier()
        let token = try maker.token(claims("\"x\":\"\(String(repeating: "x", count: 75_000))\""))
        #expect(token.count > 100_000)
        #expect(await rejection(of: token, by: verifier) == .tooLong)
        #expect(verifier.cached(token, now: now) == nil)
        // A long token with many groups is accepted.
        #expect(await rejection(of: try maker.token(claims("\"x\":\"\(String(repeating: "x", count: 9_000))\"")), by: verifier) == nil)
    }

    @Test("A token is valid until its expiry and the leeway, and not before its start")
    func times() async throws {
        let maker = try TokenMaker(.hs256)
        let seconds = now / 1_000
        let token = try maker.token(#"{"sub":"ada","exp":\#(seconds + 60),"nbf":\#(seconds)}"#)
        for (leeway, offset, expected) in [
            (0, -1, .notYetValid), (0, 0, nil), (0, 59_999, nil), (0, 60_000, .expired), (5_000, -5_001, .notYetValid),
            (5_000, -5_000, nil),
            (5_000, 64_999, nil), (5_000, 65_000, .expired),
        ] as [(Int64, Int64, TokenError?)] {
            let verifier = try maker.verifier { $0.leeway = leeway }
            #expect(await rejection(of: token, by: verifier, now: now + offset) == expected, "\(leeway) \(offset)")
        }
        // A fraction of a second is allowed (RFC 7519 section 2).
        let fraction = try maker.token(#"{"sub":"ada","exp":\#(seconds).5}"#)
        let verifier = try maker.verifier { $0.leeway = 0 }
        #expect(await rejection(of: fraction, by: verifier, now: now + 499) == nil)
        #expect(await rejection(of: fraction, by: verifier, now: now + 500) == .expired)
        let distant = try maker.token(#"{"sub":"ada","exp":1e300}"#)
        #expect(await rejection(of: distant, by: verifier) == nil)
    }

    @Test("A token without expiry is refused", arguments: [#"{"sub":"ada"}"#, #"{"sub":"ada","exp":null}"#])
    func endless(_ payload: String) async throws {
        let maker = try TokenMaker(.hs256)
        #expect(await rejection(of: try maker.token(payload), by: try maker.verifier()) == .missingExpiry)
    }

    @Test("The issuer must be an accepted one")
    func issuer() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.issuers = ["https://a.example", "https://b.example"] }
        #expect(await rejection(of: try maker.token(claims(#""iss":"https://b.example""#)), by: verifier) == nil)
        for other in [#""iss":"https://c.example""#, #""iss":"https://a.example/""#, #""iss":"""#, #""x":1"#, #""iss":null"#] {
            #expect(await rejection(of: try maker.token(claims(other)), by: verifier) == .unexpectedIssuer, "\(other)")
        }
        for other in [#""iss":["https://a.example"]"#, #""iss":"https://a.example","iss":"https://a.example""#, #""iss":"\ud800""#] {
            #expect(await rejection(of: try maker.token(claims(other)), by: verifier) == .malformed, "\(other)")
        }
    }

    @Test("The audience must name the service")
    func audience() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.audiences = ["feed", "other"] }
        for accepted in [#""aud":"feed""#, #""aud":["x","feed"]"#, #""aud":["other"]"#] {
            #expect(await rejection(of: try maker.token(claims(accepted)), by: verifier) == nil, "\(accepted)")
        }
        for refused in [#""aud":"x""#, #""aud":[]"#, #""x":1"#, #""aud":"Feed""#] {
            #expect(await rejection(of: try maker.token(claims(refused)), by: verifier) == .unexpectedAudience, "\(refused)")
        }
        #expect(await rejection(of: try maker.token(claims(#""aud":7"#)), by: verifier) == .malformed)
        // A service without a name of its own is not the audience of a token that has one (RFC 7519 section 4.1.3).
        #expect(await rejection(of: try maker.token(claims(#""aud":"x""#)), by: try maker.verifier()) == .unexpectedAudience)
    }

    @Test("Claim paths lead to subject, attributes and roles")
    func paths() async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { rules in
            rules.subject = ClaimPath(#""https://example.com/viewer".id"#) ?? rules.subject
            rules.attributes = [("plan", "plan"), ("group", "groups"), ("age", "age"), ("beta", "flags.beta"), ("none", "absent.x")]
                .compactMap { name, path in ClaimPath(path).map { TokenRules.Attribute(name: name, path: $0) } }
            rules.roles = ClaimPath("realm_access.roles")
        }
        let payload = claims(
            #""https://example.com/viewer":{"id":"bob"}"#, #""plan":"pro""#, #""groups":["a","b",7,null,{"x":1},["c"]]"#, #""age":41"#,
            #""flags":{"beta":true}"#, #""realm_access":{"roles":["read","edit"]}"#)
        #expect(
            try await verifier.verify(try maker.token(payload), now: now)
                == VerifiedIdentity(
                    subject: "bob", attributes: ["plan=pro", "group=a", "group=b", "group=7", "age=41", "beta=true"],
                    roles: ["read", "edit"], end: Self.ada.end))
    }

    @Test(
        "A subject must be one valid text",
        arguments: [#""sub":"""#, #""sub":null"#, #""sub":["a","b"]"#, #""sub":{"a":1}"#, #""sub":[]"#, #""sub":".""#])
    func subject(_ member: String) async throws {
        let maker = try TokenMaker(.hs256)
        let verifier = try maker.verifier { $0.isSubject = { !$0.isEmpty && $0 != "." } }
        let token = try maker.token("{\(member),\"exp\":\(now / 1_000 + 60)}")
        #expect(await rejection(of: token, by: verifier) == .missingSubject)
    }

    @Test("A whole number is a subject")
    func number() async throws {
        let maker = try TokenMaker(.hs256)
        let token = try maker.token(#"{"sub":9007199254740993,"exp":\#(now / 1_000 + 60)}"#)
        #expect(try await maker.verifier().verify(token, now: now).subject == "9007199254740993")
    }

    @Test("The challenge names the error in characters that RFC 6750 allows")
    func challenge() {
        #expect(
            TokenError.expired.challenge == #"Bearer error="invalid_token", error_description="The token has expired.""#)
        for error in TokenError.all {
            #expect(error.reason.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
            #expect(error.isTemporary == (error == .keysUnavailable))
        }
    }
}

extension TokenError {
    fileprivate static let all: [TokenError] = [
        .tooLong, .malformed, .unsupportedAlgorithm, .unsupportedType, .unknownKey, .invalidSignature, .missingExpiry, .expired,
        .notYetValid, .unexpectedIssuer, .unexpectedAudience, .missingSubject, .keysUnavailable,
    ]
}
