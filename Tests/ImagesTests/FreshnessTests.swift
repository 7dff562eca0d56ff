import Testing

@testable import Fetch
@testable import Images

@Suite("How long an answer may be used (RFC 9111, RFC 5861)")
struct FreshnessTests {
    private let now: Int64 = 784_111_777  // Sun, 06 Nov 1994 08:49:37 GMT

    private func evaluate(_ headers: KeyValuePairs<String, String>, status: Int = 200, asked: Int64? = nil) -> Freshness? {
        Freshness(status: status, headers: FetchHeaders(headers), asked: asked ?? now, received: now, policy: FreshnessPolicy())
    }

    @Test(
        "Lifetimes, shared cache first, within the policy's bounds",
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
            (["Cache-Control": "MAX-AGE=\"1000\""], 1_000), ([:], 86_400),
            (["Cache-Control": "max-age=1000, max-age=5000"], 1_000),
            (["Last-Modified": "Sun, 06 Nov 1994 02:49:37 GMT"], 2_160), (["Last-Modified": "Sun, 06 Nov 1964 02:49:37 GMT"], 86_400),
        ] as [(KeyValuePairs<String, String>, Int64)])
    func lifetimes(_ headers: KeyValuePairs<String, String>, _ lifetime: Int64) throws {
        let freshness = try #require(evaluate(headers))
        #expect(freshness.freshUntil - now == lifetime)
        #expect(freshness.isFresh(at: now + lifetime - 1) && !freshness.isFresh(at: now + lifetime))
    }

    @Test("What came while the clock was far ahead is asked about anew once it is right")
    func clockAhead() throws {
        let freshness = try #require(evaluate([:]))
        #expect(freshness.isFresh(at: now - 3_600))
        #expect(!freshness.isFresh(at: now - 90 * 86_400))
    }

    @Test(
        "What must not be stored",
        arguments: [
            ["Cache-Control": "no-store"], ["Cache-Control": "private"], ["Cache-Control": "max-age=100, PRIVATE=\"x\""], ["Vary": "*"],
            ["Vary": "Cookie"], ["Vary": "Accept, Authorization"],
        ] as [KeyValuePairs<String, String>])
    func unstorable(_ headers: KeyValuePairs<String, String>) {
        #expect(evaluate(headers) == nil)
    }

    @Test("Answers that vary by what we send the same way each time are storable")
    func vary() {
        #expect(evaluate(["Vary": "Accept, accept-encoding, User-Agent, Origin"]) != nil)
    }

    @Test("Without a shortest time origins are taken at their word")
    func noFloor() throws {
        var policy = FreshnessPolicy()
        policy.shortest = 0
        let headers = FetchHeaders(["Cache-Control": "max-age=5"])
        let freshness = try #require(Freshness(status: 200, headers: headers, asked: now, received: now, policy: policy))
        #expect(freshness.freshUntil == now + 5)
    }

    @Test("A lifetime of zero is asked about each time, and stands in for an origin that fails unless it is the shared caches' own")
    func zero() throws {
        let plain = try #require(evaluate(["Cache-Control": "max-age=0"]))
        #expect(plain.staleWhileRevalidateUntil == now && plain.staleIfErrorUntil == now + 7 * 86_400)
        let declared = try #require(evaluate(["Cache-Control": "max-age=0, stale-while-revalidate=10"]))
        #expect(declared.staleWhileRevalidateUntil == now + 10)
        let shared = try #require(evaluate(["Cache-Control": "s-maxage=0"]))
        #expect(shared.staleWhileRevalidateUntil == now && shared.staleIfErrorUntil == now)
    }

    @Test("What has expired on arrival is asked about each time")
    func expired() throws {
        let expired = try #require(evaluate(["Expires": "Sun, 06 Nov 1994 08:00:00 GMT"]))
        #expect(expired.staleWhileRevalidateUntil == now && expired.staleIfErrorUntil == now + 7 * 86_400)
    }

    @Test(
        "A redirect bounds the lifetime of what it leads to",
        arguments: [
            (302, ["Cache-Control": "no-store"], nil), (302, ["Cache-Control": "private"], nil), (302, ["Cache-Control": "no-cache"], 0),
            (302, ["Cache-Control": "max-age=1000"], 1_000), (307, [:], 300), (301, [:], 20_000),
            (301, ["Cache-Control": "max-age=400"], 400), (302, ["Cache-Control": "max-age=99999"], 20_000),
        ] as [(Int, KeyValuePairs<String, String>, Int64?)])
    func redirects(_ status: Int, _ fields: KeyValuePairs<String, String>, _ lifetime: Int64?) throws {
        let (from, to) = (try FetchURL("http://a.example/"), try FetchURL("http://b.example/"))
        var head = FetchHead(status: 200, headers: FetchHeaders(["Cache-Control": "max-age=20000"]), url: to)
        head.redirects = [FetchHead(status: status, headers: FetchHeaders(fields), url: from)]
        let freshness = Freshness(head, head.headers, asked: now, received: now, policy: FreshnessPolicy())
        #expect(freshness.map { $0.freshUntil - now } == lifetime)
    }

    @Test("Only pictures are stored", arguments: [206, 301, 404, 500])
    func statuses(_ status: Int) {
        #expect(evaluate([:], status: status) == nil)
    }

    @Test("Age counts, the origin's and the time on the way")
    func age() throws {
        let aged = try #require(evaluate(["Cache-Control": "max-age=1000", "Age": "400"], asked: now - 10))
        #expect(aged.age(at: now) == 410)
        #expect(aged.freshUntil == now + 590)
        let dated = try #require(evaluate(["Cache-Control": "max-age=1000", "Date": "Sun, 06 Nov 1994 08:44:37 GMT"]))
        #expect(dated.age(at: now) == 300)
        #expect(dated.freshUntil == now + 700)
    }

    @Test("Stale use: by default, as declared, and never where the origin forbids it")
    func stale() throws {
        let silent = try #require(evaluate(["Cache-Control": "max-age=1000"]))
        #expect(silent.staleWhileRevalidateUntil == silent.freshUntil + 86_400)
        #expect(silent.staleIfErrorUntil == silent.freshUntil + 7 * 86_400)
        let declared = try #require(evaluate(["Cache-Control": "max-age=1000, stale-while-revalidate=10, stale-if-error=20"]))
        #expect(declared.staleWhileRevalidateUntil == declared.freshUntil + 10)
        #expect(declared.staleIfErrorUntil == declared.freshUntil + 20)
        for directive in ["must-revalidate", "proxy-revalidate", "no-cache"] {
            let strict = try #require(evaluate(["Cache-Control": "max-age=1000, \(directive)"]))
            #expect(strict.staleWhileRevalidateUntil == strict.freshUntil)
            #expect(strict.staleIfErrorUntil == strict.freshUntil)
        }
        #expect(try #require(evaluate(["Cache-Control": "no-cache"])).freshUntil == now)
    }

    @Test(
        "All three forms of a date",
        arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func dates(_ text: String) {
        #expect(HTTPDate.parse(text) == now)
        #expect(HTTPDate.format(now) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        "What is no date is none",
        arguments: [
            "", "0", "-1", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "a b c d e f",
        ])
    func badDates(_ text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test("Every day of four centuries is written and read the same")
    func calendar() {
        for day in stride(from: Int64(-36_525), to: 110_000, by: 1) where day > -25_000 {
            #expect(HTTPDate.parse(HTTPDate.format(day * 86_400 + 4_242)) == day * 86_400 + 4_242)
        }
        #expect(HTTPDate.format(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
    }

    @Test("Cache-Status is written as RFC 9211 has it")
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
