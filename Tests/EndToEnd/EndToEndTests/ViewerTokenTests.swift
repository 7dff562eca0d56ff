import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Bearer tokens of viewers from outside", .timeLimit(.untilStuck))
struct ViewerTokenTests {
    private static let algorithms = "viewers.jwt.algorithms=RS256,ES256,EdDSA,HS256"

    /// Returns a service whose file has the keys of signers.
    private static func service(_ signers: TokenSigner..., settings: [String] = [], items: String? = nil) throws -> RunningService {
        let file = try TokenSigner.file(TokenSigner.keySet(signers))
        return try RunningService(items: items ?? Items.users(3), settings: ["viewers.jwt.keys-file=\(file)", algorithms] + settings)
    }

    private static func dismissed(_ service: RunningService, _ fields: [String]) throws -> [String] {
        let answer = try service.get("/dismissed", fields: fields)
        return try JSON(answer.text)["cells"]?.list.compactMap { $0["id"]?.text } ?? ["status \(answer.status)"]
    }

    /// Checks the refusal of a request because of its token.
    private static func expectRejection(_ answer: RawResponse, _ reason: String, _ comment: Comment? = nil) throws {
        #expect(answer.status == 401, comment)
        #expect(answer["www-authenticate"] == "Bearer error=\"invalid_token\", error_description=\"\(reason)\"", comment)
        #expect(answer["cache-control"] == "no-store", comment)
        #expect(try JSON(answer.text)["type"]?.text == "/problems/bearer-token-rejected", comment)
    }

    @Test("A token of each algorithm names its viewer, by JSON Web Key, PEM and secret", arguments: TokenSigner.Algorithm.allCases)
    func algorithms(_ algorithm: TokenSigner.Algorithm) async throws {
        try await offPool {
            let signer = try TokenSigner(algorithm, id: "k1")
            var services = [try Self.service(signer)]
            if algorithm != .hs256 {
                let file = try TokenSigner.file(signer.pem)
                services.append(try RunningService(items: Items.users(3), settings: ["viewers.jwt.keys-file=\(file)"]))
            }
            for service in services {
                let (ann, bob) = (try signer.fields("ann"), try signer.fields("bob"))
                #expect(try service.ask("POST", "/cells/user:u1/dismissal", fields: ann).status == 200)
                // The second request uses the cached token.
                for _ in 0..<2 { #expect(try Self.dismissed(service, ann) == ["user:u1"]) }
                #expect(try Self.dismissed(service, bob) == [])
                // Another token of a viewer, and the name by a proxy, lead to the same lists.
                #expect(try Self.dismissed(service, try signer.fields("ann", ["jti": "2"])) == ["user:u1"])
                #expect(try Self.dismissed(service, ["User-Agent: tests", "X-Viewer-ID: ann"]) == ["user:u1"])
                for path in ["/feed", "/feed?limit=2"] {
                    let page = try service.get(path, fields: ann)
                    #expect(page.status == 200 && !page.text.contains("\"user:u1\""))
                    #expect(page["vary"]?.contains("Authorization") == true && page["cache-control"] == "private, no-cache")
                    let open = try service.get(path)
                    #expect(open.text.contains("\"user:u1\"") && open["vary"]?.contains("Authorization") == true)
                    #expect(open["cache-control"] == "no-cache")
                }
            }
        }
    }

    @Test("A shared secret of text verifies tokens if HS256 is the only algorithm")
    func secret() async throws {
        try await offPool {
            let file = try TokenSigner.file("0123456789abcdef0123456789abcdef\n")
            let service = try RunningService(
                items: Items.users(1), settings: ["viewers.jwt.keys-file=\(file)", "viewers.jwt.algorithms=HS256"])
            // The signature was computed with another library.
            let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDB9.ArYAibI1dlEDn27QomKqp1zyziq6-wQFXqVftb2VgKM"
            #expect(try service.get("/dismissed", fields: TokenSigner.fields(token)).status == 200)
        }
    }

    @Test("A wrong or expired token gets 401 on every route that reads the viewer; without a token a request is anonymous")
    func rejected() async throws {
        try await offPool {
            let (signer, stranger) = (try TokenSigner(.es256, id: "k1"), try TokenSigner(.es256, id: "k1"))
            let service = try Self.service(signer, settings: ["viewers.jwt.leeway=0s"])
            let routes = [
                ("GET", "/feed"), ("GET", "/feed?limit=2"), ("GET", "/feeds/main"), ("GET", "/cells/user:u1"), ("GET", "/saved"),
                ("GET", "/feed/changes?syncToken=AAAA"), ("POST", "/cells/user:u1/selection"), ("POST", "/cells/user:u1/dismissal"),
                ("POST", "/events"), ("PUT", "/clients/a"),
            ]
            let wrong = TokenSigner.fields(try stranger.token("ann"))
            for (method, path) in routes {
                let body = path == "/events" ? #"{"events":[]}"# : path == "/clients/a" ? #"{"cells":"*"}"# : ""
                try Self.expectRejection(
                    try service.ask(method, path, fields: wrong, body: body), "The signature of the token is invalid.", "\(path)")
            }
            let now = Int(Date().timeIntervalSince1970)
            let cases: [(String, String)] = [
                (try signer.token("ann", ["exp": now - 1]), "The token has expired."),
                (try signer.token("ann", ["nbf": now + 600]), "The token is not valid yet."),
                (try signer.token("ann", ["exp": NSNull()]), "The token has no expiry (exp)."),
                (try signer.token("ann", header: ["alg": "none"]), "The algorithm of the token is not accepted."),
                (try signer.token("ann", header: ["kid": "k2"]), "The key of the token is unknown."),
                (try signer.token("ann", ["aud": "other"]), "The audience of the token is not accepted."),
                (try signer.token(""), "The token has no valid subject."), (try signer.token(".."), "The token has no valid subject."),
                (try signer.token("a\u{7}"), "The token has no valid subject."),
                (String(try signer.token("ann").dropLast(2)), "The signature of the token is invalid."), ("abc", "The token is malformed."),
            ]
            for (token, reason) in cases {
                try Self.expectRejection(try service.get("/feed", fields: TokenSigner.fields(token)), reason, "\(reason)")
            }
            let parts = try signer.token("ann", header: ["alg": "none"]).split(separator: ".")
            try Self.expectRejection(
                try service.get("/feed", fields: TokenSigner.fields("\(parts[0]).\(parts[1]).")),
                "The algorithm of the token is not accepted.")
            let two = try signer.fields("ann") + ["Authorization: Bearer \(try signer.token("bob"))"]
            #expect(try service.get("/feed", fields: two).status == 400)
            // Other schemes are not tokens.
            for fields in [["User-Agent: tests"], ["User-Agent: tests", "Authorization: Basic YTpi"]] {
                #expect(try service.get("/feed", fields: fields).status == 200)
                for (method, path) in [("GET", "/saved"), ("POST", "/cells/user:u1/dismissal")] {
                    let anonymous = try service.ask(method, path, fields: fields)
                    #expect(anonymous.status == 401 && anonymous["www-authenticate"] == #"Bearer realm="intertwine""#, "\(path)")
                    #expect(try JSON(anonymous.text)["type"]?.text == "/problems/bearer-token-required", "\(path)")
                }
            }
            // Without keys, no token could name the viewer.
            #expect(try RunningService(items: Items.users(1)).get("/saved").status == 403)
        }
    }

    @Test("A public key is no secret: a token that it signs as HS256 is refused")
    func confusion() async throws {
        try await offPool {
            let signer = try TokenSigner(.rs256, id: "k1")
            let service = try Self.service(signer)
            for key in [signer.pem, String(signer.pem.dropLast()), signer.jwk] {
                let signed = [#"{"alg":"HS256","kid":"k1"}"#, #"{"exp":4102444800,"sub":"ann"}"#]
                    .map { TokenSigner.text(Data($0.utf8)) }.joined(separator: ".")
                let token = signed + "." + TokenSigner.text(TokenSigner.code(for: Data(signed.utf8), Data(key.utf8)))
                try Self.expectRejection(try service.get("/feed", fields: TokenSigner.fields(token)), "The key of the token is unknown.")
            }
            // A key in the header is not used.
            let stranger = try TokenSigner(.rs256, id: "k1")
            let token = try stranger.token("ann", header: ["jwk": try #require(try JSON(stranger.jwk).value as? [String: Any])])
            try Self.expectRejection(try service.get("/feed", fields: TokenSigner.fields(token)), "The signature of the token is invalid.")
        }
    }

    @Test("A token of 100 kB is refused")
    func long() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let token = try signer.token("ann", ["x": String(repeating: "x", count: 75_000)])
            #expect(token.utf8.count > 100_000)
            #expect(try Self.service(signer).get("/feed", fields: TokenSigner.fields(token)).status == 431)
            let service = try Self.service(signer, settings: ["limits.max-header=256KiB"])
            try Self.expectRejection(try service.get("/feed", fields: TokenSigner.fields(token)), "The token is too long.")
            #expect(try service.get("/feed", fields: try signer.fields("ann", ["x": String(repeating: "x", count: 9_000)])).status == 200)
        }
    }

    @Test("Issuer, audience, leeway and the path of the viewer are checked")
    func rules() async throws {
        try await offPool {
            let signer = try TokenSigner(.edDSA)
            let service = try Self.service(
                signer,
                settings: [
                    "viewers.jwt.issuer=https://a.example,https://b.example", "viewers.jwt.audience=feed", "viewers.jwt.leeway=60s",
                    #"viewers.jwt.viewer-claim="https://example.com/viewer".id"#,
                ])
            let good: [String: Any] = [
                "iss": "https://b.example", "aud": ["x", "feed"], "https://example.com/viewer": ["id": "bob"],
                "exp": Int(Date().timeIntervalSince1970) - 20,
            ]
            #expect(try service.ask("POST", "/cells/user:u1/dismissal", fields: try signer.fields("ann", good)).status == 200)
            #expect(try Self.dismissed(service, ["User-Agent: tests", "X-Viewer-ID: bob"]) == ["user:u1"])
            for (change, reason) in [
                (["iss": "https://c.example"], "The issuer of the token is not accepted."),
                (["aud": "x"], "The audience of the token is not accepted."),
                (["https://example.com/viewer": "bob"], "The token has no valid subject."),
            ] as [([String: Any], String)] {
                try Self.expectRejection(
                    try service.get("/feed", fields: try signer.fields("ann", good.merging(change) { $1 })), reason, "\(reason)")
            }
        }
    }

    @Test("viewers.required refuses requests without a viewer, on every route that reads the viewer")
    func required() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let service = try Self.service(signer, settings: ["viewers.required=true"])
            for (method, path) in [
                ("GET", "/feed"), ("GET", "/feed?limit=2"), ("GET", "/cells/user:u1"), ("GET", "/saved"),
                ("POST", "/cells/user:u1/selection"),
                ("POST", "/events"), ("GET", "/feed/changes?syncToken=AAAA"),
            ] {
                let answer = try service.ask(method, path, body: path == "/events" ? #"{"events":[]}"# : "")
                #expect(answer.status == 401 && answer["www-authenticate"] == #"Bearer realm="intertwine""#, "\(path)")
                #expect(try JSON(answer.text)["type"]?.text == "/problems/bearer-token-required", "\(path)")
            }
            for fields in [try signer.fields("ann"), ["User-Agent: tests", "X-Viewer-ID: ann"]] {
                #expect(try service.get("/feed", fields: fields).status == 200)
            }
            for path in ["/healthz", "/", "/openapi.json", "/feeds"] {
                #expect(try service.get(path).status == 200, "\(path)")
            }
        }
    }

    @Test("The viewer of a token and of a proxy must be the same")
    func twoStatements() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let service = try Self.service(signer)
            #expect(try service.get("/feed", fields: try signer.fields("ann") + ["X-Viewer-ID: ann"]).status == 200)
            let other = try service.get("/feed", fields: try signer.fields("ann") + ["X-Viewer-ID: bob"])
            #expect(other.status == 400 && other.text.contains("X-Viewer-ID names another viewer than the token."))
            let distrusting = try Self.service(signer, settings: ["server.trusted-proxies=10.9.9.9/32"])
            #expect(try distrusting.get("/feed", fields: try signer.fields("ann")).status == 200)
            #expect(try distrusting.get("/feed", fields: try signer.fields("ann") + ["X-Viewer-ID: ann"]).status == 403)
        }
    }

    @Test("Claims are attributes for targeting, and the field with attributes is accepted from trusted proxies only")
    func attributes() async throws {
        try await offPool {
            let campaign =
                #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"],"targeting":{"attributes":{"all":["plan=paid"]}}}"#
                + "\n"
            let (signer, items) = (try TokenSigner(.hs256), Items.users(5) + Items.advertisements(1, reserved: [1]) + campaign)
            let settings = ["viewers.jwt.attribute-claims=plan=realm.plan", "viewers.attributes-header=X-Attributes"]
            let service = try Self.service(signer, settings: settings, items: items)
            func status(_ fields: [String]) throws -> Int { try service.get("/cells/ad:1", fields: fields).status }
            func hasAd(_ fields: [String]) throws -> Bool { try service.get("/feed?limit=5", fields: fields).text.contains("\"ad:1\"") }
            for (plan, isPaid) in [("paid", true), ("free", false), ("free, plan=paid", false)] {
                let fields = try signer.fields("ann", ["realm": ["plan": plan]])
                // The first request verifies the token.
                for _ in 0..<2 {
                    #expect(try hasAd(fields) == isPaid, "\(plan)")
                    #expect(try status(fields) == (isPaid ? 200 : 404), "\(plan)")
                }
            }
            #expect(try status(try signer.fields("ann")) == 404)
            // A trusted proxy adds attributes, with a token, a viewer or neither.
            let paid = "X-Attributes: plan=paid"
            for fields in [try signer.fields("ann"), ["User-Agent: tests", "X-Viewer-ID: ann"], ["User-Agent: tests"]] {
                #expect(try status(fields + [paid]) == 200)
                #expect(try hasAd(fields + [paid]) && !hasAd(fields))
            }
            let distrusting = try Self.service(signer, settings: settings + ["server.trusted-proxies=10.9.9.9/32"], items: items)
            for path in ["/feed", "/feed?limit=5", "/cells/user:u1"] {
                let refusal = try distrusting.get(path, fields: ["User-Agent: tests", paid])
                #expect(refusal.status == 403 && refusal.text.contains("/problems/viewer-untrusted"), "\(path)")
                #expect(try distrusting.get(path, fields: ["User-Agent: tests", "X-Attributes:"]).status == 200, "\(path)")
                #expect(try distrusting.get(path, fields: ["User-Agent: tests", "Accept-Language: de"]).status == 200, "\(path)")
            }
        }
    }

    @Test("Without keys, the field Authorization is not read")
    func off() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            let page = try service.get("/feed", fields: TokenSigner.fields("x"))
            #expect(page.status == 200 && page["vary"]?.contains("Authorization") == false)
        }
    }

    @Test("Pages of allowed origins may send tokens and read the challenge")
    func crossOrigin() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let service = try Self.service(signer, settings: ["cors.origins=https://app.example.com"])
            let origin = "Origin: https://app.example.com"
            let preflight = try service.ask(
                "OPTIONS", "/feed",
                fields: [origin, "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization"])
            #expect(preflight.status == 204)
            #expect(preflight["access-control-allow-headers"]?.contains("Authorization") == true)
            let refusal = try service.get("/feed", fields: TokenSigner.fields("x") + [origin])
            #expect(refusal.status == 401 && refusal["access-control-allow-origin"] == "https://app.example.com")
            #expect(refusal["access-control-expose-headers"]?.contains("WWW-Authenticate") == true)
        }
    }

    @Test("Ten thousand different tokens are bounded: forged ones get 429, and other requests are served")
    func flood() async throws {
        try await offPool {
            let (signer, stranger) = (try TokenSigner(.hs256, id: "k1"), try TokenSigner(.hs256, id: "k1"))
            let service = try Self.service(signer, settings: ["limits.requests-per-connection=100000"])
            let known = try signer.fields("ann")
            #expect(try service.get("/feed", fields: known).status == 200)
            let begun = ContinuousClock.now
            var statuses: [Int: Int] = [:]
            let clients = try (0..<4).map { _ in try RawClient(port: service.port) }
            for number in 0..<2_500 {
                for (index, client) in clients.enumerated() {
                    let token = try stranger.token("v\(number)-\(index)")
                    try client.send("GET /feed HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
                }
                for client in clients {
                    let answer = try client.response(to: "GET")
                    statuses[answer.status, default: 0] += 1
                    if answer.status == 429 {
                        #expect(answer["retry-after"].flatMap { Int($0) }.map { (1...60).contains($0) } == true)
                    }
                }
                guard number % 500 == 0 else { continue }
                // Known tokens and anonymous requests are not affected.
                #expect(try service.get("/feed", fields: known).status == 200)
                #expect(try service.get("/feed").status == 200)
            }
            // The limit has a monotonic clock too.
            let minutes = Int(begun.duration(to: .now).components.seconds) / 60 + 1
            #expect(statuses[401, default: 0] >= 600 && statuses[401, default: 0] <= 600 * (minutes + 1) + 4, "\(statuses)")
            #expect(statuses[401, default: 0] + statuses[429, default: 0] == 10_000, "\(statuses)")
            // An unknown valid token of the address waits too. It follows others at once, because the limit permits ten tokens a second.
            let tokens = try (0..<30).map { try stranger.token("w\($0)") } + [try signer.token("bob")]
            try clients[0].send(
                tokens.map { "GET /feed HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \($0)\r\n\r\n" }.joined())
            #expect(try tokens.map { _ in try clients[0].response(to: "GET").status }.last == 429)
            // One of another address is verified.
            #expect(try service.get("/feed", fields: try signer.fields("bob") + ["X-Forwarded-For: 203.0.113.7"]).status == 200)
            let metrics = try service.admin("GET", "/metrics", fields: []).text
            #expect(metrics.contains(#"intertwine_tokens_verified_total{listener="service",outcome="valid"} 2"#))
            #expect(metrics.contains(#"intertwine_token_cache_entries{listener="service"} 2"#))
        }
    }

    @Test("Ten thousand different valid tokens are served")
    func many() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let service = try Self.service(signer, settings: ["limits.requests-per-connection=100000"])
            let clients = try (0..<4).map { _ in try RawClient(port: service.port) }
            for number in 0..<2_500 {
                for (index, client) in clients.enumerated() {
                    let token = try signer.token("v\(number)-\(index)")
                    try client.send("GET /feed?limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
                }
                for client in clients { #expect(try client.response(to: "GET").status == 200) }
            }
            let metrics = try service.admin("GET", "/metrics", fields: []).text
            #expect(metrics.contains(#"intertwine_token_cache_entries{listener="service"} 10000"#))
        }
    }

    @Test("An expired token leaves the cache, and gets 401")
    func expiry() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let service = try Self.service(signer, settings: ["viewers.jwt.leeway=0s"])
            let end = Int(Date().timeIntervalSince1970) + 2
            let fields = try signer.fields("ann", ["exp": end])
            #expect(try service.get("/feed", fields: fields).status == 200)
            var answer = try service.get("/feed", fields: fields)
            while answer.status == 200 { answer = try service.get("/feed", fields: fields) }
            #expect(Date().timeIntervalSince1970 >= Double(end))
            try Self.expectRejection(answer, "The token has expired.")
            #expect(
                try service.admin("GET", "/metrics", fields: []).text.contains(#"intertwine_token_cache_entries{listener="service"} 0"#))
        }
    }

    @Test("A stream of live changes ends when its token expires")
    func stream() async throws {
        try await offPool {
            let signer = try TokenSigner(.hs256)
            let service = try Self.service(signer, settings: ["viewers.jwt.leeway=0s"])
            let page = try service.get("/feed?changes=true", fields: try signer.fields("ann"))
            let token = try #require(try JSON(page.text)["page"]?["syncToken"]?.text)
            func listener(_ fields: [String]) throws -> RawClient {
                let client = try RawClient(port: service.port)
                let lines = (["Accept: text/event-stream"] + fields).map { "\($0)\r\n" }.joined()
                try client.send("GET /feed/changes?syncToken=\(token) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
                return client
            }
            let end = Int(Date().timeIntervalSince1970) + 2
            let expiring = try listener(try signer.fields("ann", ["exp": end]))
            let lasting = try listener(try signer.fields("ann"))
            var text = ""
            while !text.hasSuffix("0\r\n\r\n"), let bytes = try expiring.bytes(within: 15_000) {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("0\r\n\r\n") && Date().timeIntervalSince1970 >= Double(end))
            // A stream of a valid token still gets changes.
            _ = try service.importItems(Items.user("u9"))
            text = ""
            while !text.contains("user:u9"), let bytes = try lasting.bytes(within: 15_000) {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.contains("user:u9"))
        }
    }
}

@Suite("Keys of tokens from a URL, from outside", .timeLimit(.untilStuck))
struct TokenKeySetTests {
    /// An identity provider with a key set.
    private final class Issuer: Sendable {
        private final class Box: Sendable {
            let state = Mutex((keys: "", fails: false))
        }

        private let box = Box()
        let origin: Origin

        init(_ signers: TokenSigner...) throws {
            origin = try Origin { [box] _, connection in
                let (keys, fails) = box.state.withLock { $0 }
                if fails { connection.answer(500) } else { connection.answer(200, body: Array(keys.utf8)) }
            }
            publish(signers)
        }

        func publish(_ signers: [TokenSigner]) { box.state.withLock { $0.keys = TokenSigner.keySet(signers) } }
        func publish(document: String) { box.state.withLock { $0.keys = document } }
        func setFailing(_ fails: Bool) { box.state.withLock { $0.fails = fails } }

        var settings: [String] {
            [
                "viewers.jwt.jwks-url=\(origin.url("/jwks"))", "viewers.jwt.allowed-networks=127.0.0.0/8",
                "viewers.jwt.refresh-interval=10s", "limits.rejected-tokens-per-address=1000000",
            ]
        }
    }

    @Test("A new kid is fetched at once, and the last good keys stay valid while the URL fails")
    func rotation() async throws {
        try await offPool {
            let (first, second) = (try TokenSigner(.es256, id: "k1"), try TokenSigner(.rs256, id: "k2"))
            let issuer = try Issuer(first)
            let service = try RunningService(items: Items.users(2), settings: issuer.settings)
            func status(_ signer: TokenSigner, _ number: Int = 0) throws -> Int {
                try service.get("/feed", fields: try signer.fields("ann", ["jti": "\(number)"])).status
            }
            var number = 0
            /// Repeats a request, each with a new token.
            func waitUntilAccepted(_ signer: TokenSigner) throws {
                try poll {
                    number += 1
                    return try status(signer, number) == 200
                }
            }
            try waitUntilAccepted(first)
            issuer.publish([first, second])
            // At most one fetch in ten seconds.
            try waitUntilAccepted(second)
            issuer.setFailing(true)
            _ = try service.process.line(containing: "keys of tokens not loaded; the last ones stay valid")
            for signer in [first, second] { #expect(try status(signer, 1_000_000) == 200) }
            // A key that is withdrawn is revoked, together with its cached tokens.
            let known = try first.fields("ann")
            #expect(try service.get("/feed", fields: known).status == 200)
            issuer.publish([second])
            issuer.setFailing(false)
            try poll { try service.get("/feed", fields: known).status != 200 }
            #expect(try status(first) == 401 && status(second) == 200)
            // A set without keys revokes all of them; members that are no keys of the service revoke none.
            let last = try second.fields("ann")
            #expect(try service.get("/feed", fields: last).status == 200)
            issuer.publish(document: #"{"keys":[{"kty":"EC","crv":"P-384","kid":"k3"}]}"#)
            _ = try service.process.line(containing: "has no usable keys", timeout: 60_000)
            #expect(try service.get("/feed", fields: last).status == 200)
            issuer.publish([])
            try poll { try service.get("/feed", fields: last).status != 200 }
            _ = try service.process.line(containing: "the set of keys is empty; all tokens are rejected", timeout: 60_000)
            let revoked = try service.get("/feed", fields: last)
            #expect(revoked.status == 401 && revoked.text.contains("The key of the token is unknown."))
        }
    }

    @Test("A stream of live changes ends when the key of its token is withdrawn")
    func withdrawnStream() async throws {
        try await offPool {
            let (first, second) = (try TokenSigner(.es256, id: "k1"), try TokenSigner(.es256, id: "k2"))
            let issuer = try Issuer(first, second)
            let service = try RunningService(items: Items.users(2), settings: issuer.settings)
            try poll { try service.get("/feed", fields: try first.fields("ann")).status == 200 }
            let page = try service.get("/feed?changes=true", fields: try first.fields("ann"))
            let token = try #require(try JSON(page.text)["page"]?["syncToken"]?.text)
            let clients = try [first, second].map { signer in
                let client = try RawClient(port: service.port)
                let lines = (["Accept: text/event-stream"] + (try signer.fields("ann"))).map { "\($0)\r\n" }.joined()
                try client.send("GET /feed/changes?syncToken=\(token) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
                return client
            }
            issuer.publish([second])
            var text = ""
            while !text.hasSuffix("0\r\n\r\n"), let bytes = try clients[0].bytes(within: 30_000) {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("0\r\n\r\n"))
            _ = try service.importItems(Items.user("u9"))
            text = ""
            while !text.contains("user:u9"), let bytes = try clients[1].bytes(within: 15_000) {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.contains("user:u9"))
        }
    }

    @Test("Before the first keys, tokens get 503, and requests without a token are served")
    func unavailable() async throws {
        try await offPool {
            let signer = try TokenSigner(.es256, id: "k1")
            let issuer = try Issuer(signer)
            issuer.setFailing(true)
            let service = try RunningService(items: Items.users(1), settings: issuer.settings)
            let answer = try service.get("/feed", fields: try signer.fields("ann"))
            #expect(answer.status == 503 && answer["retry-after"] == "1")
            #expect(try service.get("/feed").status == 200)
            issuer.setFailing(false)
            try poll { try service.get("/feed", fields: try signer.fields("ann")).status != 503 }
            #expect(try service.get("/feed", fields: try signer.fields("ann")).status == 200)
        }
    }

    @Test("Keys are fetched from an allowed address only, without redirects")
    func policy() async throws {
        try await offPool {
            let origin = try Origin { request, connection in
                connection.send("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
            }
            let url = "viewers.jwt.jwks-url=\(origin.url("/jwks"))"
            let redirected = try RunningService(settings: [url, "viewers.jwt.allowed-networks=127.0.0.0/8"])
            let refusal = try redirected.process.line(containing: "keys of tokens not loaded; there are none, so no token is accepted")
            #expect(refusal.contains("the URL redirects to another one, and redirects are not followed"), "\(refusal)")
            let denied = try RunningService(settings: [url, "viewers.jwt.allowed-networks=10.0.0.0/8"])
            #expect(try denied.process.line(containing: "keys of tokens not loaded").contains("127.0.0.1"))
            // Without TLS, a public address is not allowed either.
            let open = try RunningService(settings: [
                "viewers.jwt.jwks-url=http://1.1.1.1/jwks", "viewers.jwt.allowed-networks=10.0.0.0/8",
            ])
            let line = try open.process.line(containing: "keys of tokens not loaded")
            #expect(line.contains("1.1.1.1") && line.contains("viewers.jwt.allowed-networks"), "\(line)")
        }
    }

    @Test("Each invalid setting is one line of check-config")
    func settings() async throws {
        try await offPool {
            let signer = try TokenSigner(.es256)
            let (key, secret) = (try TokenSigner.file(signer.jwk), try TokenSigner.file("0123456789abcdef0123456789abcdef"))
            func lines(_ settings: String...) throws -> [String] {
                let file = try TokenSigner.file("")
                let arguments = ["check-config", "--config", file, "--database", "\(file).sqlite"]
                let result = try Command.run(arguments + settings.flatMap { ["--set", $0] })
                return result.code == 0 ? [] : result.lines
            }
            #expect(try lines("viewers.jwt.keys-file=\(key)").isEmpty)
            for (settings, reason) in [
                (["viewers.jwt.keys-file=/nowhere"], "viewers.jwt.keys-file: /nowhere: cannot be read: No such file or directory"),
                (
                    ["viewers.jwt.keys-file=\(secret)"],
                    "viewers.jwt.keys-file: \(secret): is neither JSON nor PEM; a shared secret requires HS256 as the only algorithm"
                ),
                (
                    ["admin.jwt.keys-file=\(key)", "admin.jwt.algorithms=RS256"],
                    "admin.jwt.keys-file: \(key): has no usable keys: ES256 is not an accepted algorithm"
                ),
                (
                    ["viewers.jwt.jwks-url=http://a.example/keys"],
                    "viewers.jwt.jwks-url: an http URL requires allowed-networks; http://a.example/keys is not in a network of yours"
                ),
                (
                    ["viewers.jwt.keys-file=\(key)", "viewers.jwt.jwks-url=https://a.example/keys"],
                    "viewers.jwt: keys-file and jwks-url cannot both be set"
                ),
                (
                    ["viewers.required=true", "viewers.header=", "actions.user.dismissal=", "actions.ad.dismissal="],
                    "viewers.required: requires viewers.header, viewers.jwt.keys-file or viewers.jwt.jwks-url"
                ),
            ] {
                let file = try TokenSigner.file("")
                let arguments = ["check-config", "--config", file, "--database", "\(file).sqlite"]
                let result = try Command.run(arguments + settings.flatMap { ["--set", $0] })
                #expect(result.code == 1 && result.lines.contains("Error: \(reason)"), "\(result.lines)")
            }
            for setting in [
                "viewers.jwt.algorithms=none", "viewers.jwt.viewer-claim=a..b", "viewers.jwt.attribute-claims=Plan=x",
                "viewers.jwt.leeway=1h", "viewers.jwt.jwks-url=ftp://a", "admin.jwt.roles-claim=", "viewers.jwt.refresh-interval=1s",
            ] {
                let found = try lines(setting)
                let name = setting.prefix { $0 != "=" }
                #expect(found.count { $0.hasPrefix("Error: \(name): ") } == 1, "\(found)")
            }
        }
    }

    @Test("A start with an unusable key file is refused in one line")
    func start() async throws {
        try await offPool {
            let file = try TokenSigner.file("{\"keys\":[]}")
            let configuration = try TokenSigner.file("")
            // A service has other files beside its database.
            let folder = "\(configuration)-data"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let result = try Command.run([
                "serve", "--config", configuration, "--port", "0", "--admin-port", "0", "--database", "\(folder)/items.sqlite", "--set",
                "viewers.jwt.keys-file=\(file)",
            ])
            #expect(result.code == 1 && result.lines.contains("Error: viewers.jwt.keys-file: \(file): has no keys"), "\(result.lines)")
            #expect(!result.lines.contains { $0.contains("stay valid") }, "\(result.lines)")
        }
    }

    @Test("Keys of a file are read again")
    func file() async throws {
        try await offPool {
            let (first, second) = (try TokenSigner(.es256, id: "k1"), try TokenSigner(.es256, id: "k2"))
            let file = try TokenSigner.file(first.jwk)
            let service = try RunningService(
                items: Items.users(1),
                settings: [
                    "viewers.jwt.keys-file=\(file)", "viewers.jwt.refresh-interval=10s", "limits.rejected-tokens-per-address=1000000",
                ])
            #expect(try service.get("/feed", fields: try first.fields("ann")).status == 200)
            try second.jwk.write(toFile: file, atomically: true, encoding: .utf8)
            try poll { try service.get("/feed", fields: try second.fields("ann")).status == 200 }
            #expect(try service.get("/feed", fields: try first.fields("ann")).status == 401)
        }
    }
}
