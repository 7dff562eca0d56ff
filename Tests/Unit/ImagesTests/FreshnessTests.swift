import HTTPTypes
import Testing

@testable import IntertwineImages

@Suite("Freshness of responses (RFC 9111, RFC 5861)")
struct FreshnessTests {
    private let now: Int64 = 784_111_777  // Sun, 06 Nov 1994 08:49:37 GMT

    private func evaluate(_ headers: KeyValuePairs<String, String>, status: Int = 200, asked: Int64? = nil) -> Freshness? {
        Freshness(status: status, headers: HTTPFields(headers), asked: asked ?? now, received: now, policy: FreshnessPolicy())
    }

    @Test(
        "Lifetimes for shared caches, within the bounds of the policy",
        arguments: [
            (["Cache-Control": "max-age=1000"], 1_000), (["Cache-Control": "s-maxage=2000, max-age=1000"], 2_000),
            (["Cache-Control": "max-age=1000", "Expires": "Sun, 06 Nov 1994 18:49:37 GMT"], 1_000),
            (["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Expires": "Sun, 06 Nov 1994 09:49:37 GMT"], 3_600),
            (["Expires": "0"], 0), (["Expires": "Sun, 06 Nov 1994 08:00:00 GMT", "Pragma": "no-cache"], 0),
            (["Cache-Control": "max-age=5"], 300),
            (["Cache-Control": "max-age=99999999999999999999"], 30 * 86_400),
            (["Cache-Control": "max-age=nonsense"], 0), (["Cache-Control": "max-age=0, must-revalidate"], 0),
            (["Cache-Control": "s-maxage=0, max-age=1000"], 0), (["Cache-Control": "max-age=5, proxy-revalidate"], 5),
            (["Cache-Control": "max-age=5, must-revalidate"], 5), (["Cache-Control": "max-age=0"], 0),
            (["Cache-Control": "s-maxage=5"], 5), (["Cache-Control": "no-store, must-understand, max-age=1000"], 1_000),
            (["Expires": "sun, 06 nOV 1994 09:49:37 gmt"], 3_600), (["Expires": "Sun, 6 Nov 1994 09:49:37 GMT"], 0),
            (["Expires": "Sun, 06 Nov 1994 9:49:37 GMT"], 0), (["Expires": "Sun 06 Nov 1994 09:49:37 GMT"], 0),
            (["Expires": "Sun, 06 Nov 1994 09:49:37 UTC"], 0), (["Expires": "Sun, 06  Nov 1994 09:49:37 GMT"], 0),
            (["Cache-Control": "MAX-AGE=\"1000\""], 1_000), ([:], 86_400),
            (["Cache-Control": "max-age=1000, max-age=5000"], 1_000),
            (["Cache-Control": #"a="no-store, \", private", max-age=1000"#], 1_000),
            (["Last-Modified": "Sun, 06 Nov 1994 02:49:37 GMT"], 2_160), (["Last-Modified": "Sun, 06 Nov 1964 02:49:37 GMT"], 86_400),
        ] as [(KeyValuePairs<String, String>, Int64)])
    func lifetimes(_ headers: KeyValuePairs<String, String>, _ lifetime: Int64) throws {
        let freshness = try #require(evaluate(headers))
        #expect(freshness.freshUntil - now == lifetime)
        #expect(freshness.isFresh(at: now + lifetime - 1) && !freshness.isFresh(at: now + lifetime))
    }

    @Test("Responses stored while the clock was ahead are revalidated after its correction")
    func clockAhead() throws {
        let freshness = try #require(evaluate([:]))
        #expect(freshness.isFresh(at: now - 3_600))
        #expect(!freshness.isFresh(at: now - 90 * 86_400))
    }

    @Test(
        "Responses that must not be stored",
        arguments: [
            ["Cache-Control": "no-store"], ["Cache-Control": "private"], ["Cache-Control": "max-age=100, PRIVATE=\"x\""], ["Vary": "*"],
            ["Cache-Control": #"ext="\"", no-store"#],
            ["Cache-Control": #"max-age=60, ext="\"", private, y="\"""#], ["Cache-Control": #"ext="\\", no-store"#],
            ["Cache-Control": #"foo="bar"#, "cache-control": "no-store"], ["Cache-Control": #"a="b, private, max-age=60"#],
        ] as [KeyValuePairs<String, String>])
    func unstorable(_ headers: KeyValuePairs<String, String>) {
        #expect(evaluate(headers) == nil)
    }

    @Test("Responses that vary by constant request fields are storable")
    func vary() {
        #expect(evaluate(["Vary": "Accept, accept-encoding, User-Agent, Origin, Save-Data, DPR, X-Forwarded-Proto, Foo"]) != nil)
    }

    @Test("Without a minimum lifetime the origin's lifetime is used")
    func noFloor() throws {
        var policy = FreshnessPolicy()
        policy.minTTL = 0
        let headers = HTTPFields(["Cache-Control": "max-age=5"])
        let freshness = try #require(Freshness(status: 200, headers: headers, asked: now, received: now, policy: policy))
        #expect(freshness.freshUntil == now + 5)
    }

    @Test(
        "Directives for shared caches are sent to them only (RFC 9111 section 5.2.2.10)",
        arguments: [
            (["Cache-Control": "s-maxage=2000, max-age=1000"], "public, max-age=1000, s-maxage=2000, proxy-revalidate"),
            (["Cache-Control": "s-maxage=2000"], "public, max-age=0, s-maxage=2000, proxy-revalidate"),
            (
                ["Cache-Control": "s-maxage=2000", "Expires": "Sun, 06 Nov 1994 09:49:37 GMT"],
                "public, max-age=3600, s-maxage=2000, proxy-revalidate"
            ),
            (["Cache-Control": "s-maxage=0, max-age=1000"], "public, max-age=1000, s-maxage=0, proxy-revalidate"),
            (["Cache-Control": "max-age=1000"], "public, max-age=1000"), ([:], "public, max-age=86400"),
            (["Cache-Control": "max-age=1000, must-revalidate"], "public, max-age=1000, must-revalidate"),
            (["Cache-Control": "max-age=1000, proxy-revalidate"], "public, max-age=1000, proxy-revalidate"),
            (
                ["Cache-Control": "max-age=1000, stale-while-revalidate=10, stale-if-error=20"],
                "public, max-age=1000, stale-while-revalidate=10, stale-if-error=20"
            ),
            (["Cache-Control": "no-cache"], "no-cache"), (["Cache-Control": "max-age=0"], "no-cache"),
            (["Cache-Control": "max-age=1000", "Age": "400"], "public, max-age=1000"),
        ] as [(KeyValuePairs<String, String>, String)])
    func told(_ headers: KeyValuePairs<String, String>, _ field: String) throws {
        #expect(try #require(evaluate(headers)).cacheControl == field)
    }

    @Test(
        "A redirect bounds the lifetime of its target",
        arguments: [
            (302, ["Cache-Control": "no-store"], nil), (302, ["Cache-Control": "private"], nil), (302, ["Cache-Control": "no-cache"], 0),
            (302, ["Cache-Control": "max-age=1000"], 1_000), (307, [:], 300), (301, [:], 20_000),
            (301, ["Cache-Control": "max-age=400"], 400), (302, ["Cache-Control": "max-age=99999"], 20_000),
        ] as [(Int, KeyValuePairs<String, String>, Int64?)])
    func redirects(_ status: Int, _ fields: KeyValuePairs<String, String>, _ lifetime: Int64?) throws {
        let (from, to) = (try FetchURL("http://a.example/"), try FetchURL("http://b.example/"))
        var head = FetchHead(status: 200, headers: HTTPFields(["Cache-Control": "max-age=20000"]), url: to)
        head.redirects = [FetchHead(status: status, headers: HTTPFields(fields), url: from)]
        let freshness = Freshness(head, head.headers, asked: now, received: now, policy: FreshnessPolicy())
        #expect(freshness.map { $0.freshUntil - now } == lifetime)
    }

    @Test("Only images are stored", arguments: [201, 202, 204, 299, 301, 302, 403, 404, 410, 500, 502, 503, 504, 599])
    func statuses(_ status: Int) {
        #expect(evaluate([:], status: status) == nil)
        #expect((evaluate(["Cache-Control": "max-age=60"], status: status) != nil) == (status < 204))
    }

    @Test("Age includes the origin's age and the transfer time")
    func age() throws {
        let aged = try #require(evaluate(["Cache-Control": "max-age=1000", "Age": "400"], asked: now - 10))
        #expect(aged.age(at: now) == 410)
        #expect(aged.freshUntil == now + 590)
        let dated = try #require(evaluate(["Cache-Control": "max-age=1000", "Date": "Sun, 06 Nov 1994 08:44:37 GMT"]))
        #expect(dated.age(at: now) == 300)
        #expect(dated.freshUntil == now + 700)
    }

    @Test(
        "Age is the first number of its field; an invalid one is ignored (RFC 9111 section 5.1)",
        arguments: [
            ("400", 400), ("400, 7", 400), ("abc", 0), ("-5", 0), ("400.5", 0), ("400;a=b", 0), ("", 0), ("99999999999999999999", 1 << 31),
        ])
    func ages(_ field: String, _ age: Int64) throws {
        #expect(try #require(evaluate(["Cache-Control": "max-age=1000", "Age": field])).age(at: now) == age)
    }

    @Test("Stale responses are used as declared or configured, and never if the origin forbids it")
    func stale() throws {
        let silent = try #require(evaluate(["Cache-Control": "max-age=1000"]))
        #expect(silent.staleWhileRevalidateUntil == silent.freshUntil && silent.staleIfErrorUntil == silent.freshUntil)
        let declared = try #require(evaluate(["Cache-Control": "max-age=1000, stale-while-revalidate=10, stale-if-error=20"]))
        #expect(declared.staleWhileRevalidateUntil == now + 1_010 && declared.staleIfErrorUntil == now + 1_020)
        var policy = FreshnessPolicy()
        (policy.staleWhileRevalidate, policy.staleIfError) = (30, 40)
        func configured(_ control: String) throws -> Freshness {
            let headers = HTTPFields(["Cache-Control": control])
            return try #require(Freshness(status: 200, headers: headers, asked: now, received: now, policy: policy))
        }
        let permitted = try configured("max-age=1000, stale-if-error=5")
        #expect(permitted.staleWhileRevalidateUntil == now + 1_030 && permitted.staleIfErrorUntil == now + 1_005)
        #expect(try configured("max-age=0").staleWhileRevalidateUntil == now)
        #expect(try configured("max-age=0").staleIfErrorUntil == now + 40)
        for directive in ["must-revalidate", "proxy-revalidate", "no-cache", "s-maxage=500"] {
            let strict = try configured("max-age=1000, stale-while-revalidate=10, stale-if-error=20, \(directive)")
            #expect(strict.staleWhileRevalidateUntil == strict.freshUntil && strict.staleIfErrorUntil == strict.freshUntil)
        }
        #expect(try #require(evaluate(["Cache-Control": "no-cache"])).freshUntil == now)
    }

    @Test("The window of stale use begins at expiry")
    func oldWindows() throws {
        var policy = FreshnessPolicy()
        policy.minTTL = 0
        let headers = HTTPFields(["Cache-Control": "max-age=1000, stale-while-revalidate=100, stale-if-error=600", "Age": "1500"])
        let old = try #require(Freshness(status: 200, headers: headers, asked: now, received: now, policy: policy))
        #expect(old.freshUntil == now - 500 && old.staleWhileRevalidateUntil == now - 400 && old.staleIfErrorUntil == now + 100)
        // A longer life of ours does not lengthen it.
        let short = HTTPFields(["Cache-Control": "max-age=5, stale-if-error=100"])
        let lengthened = try #require(Freshness(status: 200, headers: short, asked: now, received: now, policy: FreshnessPolicy()))
        #expect(lengthened.freshUntil == now + 300 && lengthened.staleIfErrorUntil == now + 300)
    }

    @Test("Cache-Status follows RFC 9211")
    func cacheStatus() {
        var hit = CacheStatus(.hit)
        hit.timeToLive = 30
        #expect(hit.field == "Intertwine; hit; ttl=30")
        var miss = CacheStatus(.miss)
        miss.forwardStatus = 200
        miss.isStored = true
        miss.isCollapsed = true
        #expect(miss.field == "Intertwine; fwd=miss; fwd-status=200; stored; collapsed")
    }
}
