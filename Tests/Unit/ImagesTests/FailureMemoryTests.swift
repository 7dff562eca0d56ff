import HTTPTypes
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

@Suite("Negative cache")
struct FailureMemoryTests {
    private let start = MonotonicInstant(nanoseconds: 0)

    private func after(_ seconds: Int) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    @Test(
        "Each class of failures has its lifetime",
        arguments: [
            (ImageError(.upstream(status: 404)), 300), (ImageError(.upstream(status: 410)), 300),
            (ImageError(.upstream(status: 403)), 60),
            (ImageError(.upstream(status: 500)), 10), (ImageError(.fetch(.hostNotFound)), 30),
            (ImageError(.fetch(.addressDenied)), 3_600),
            (ImageError(.fetch(.headTimeout)), 10), (ImageError(.fetch(.bodyTooLarge)), 3_600), (ImageError(.typeMismatch), 3_600),
            (ImageError(.upstream(status: 429), retryAfter: 77), 77), (ImageError(.upstream(status: 429), retryAfter: 99_999), 600),
            (ImageError(.upstream(status: 503), retryAfter: 120), 120), (ImageError(.upstream(status: 503), retryAfter: 2), 10),
        ])
    func times(_ failure: ImageError, _ seconds: Int) {
        var cache = NegativeCache()
        cache.record(failure, for: "x", now: start)
        #expect(cache.failure(for: "x", now: after(seconds - 1))?.reason == failure.reason)
        #expect(cache.failure(for: "x", now: after(seconds)) == nil)
    }

    @Test(
        "Internal failures are not cached",
        arguments: [
            ImageError(.overloaded), ImageError(.cancelled), ImageError(.circuitOpen), ImageError(.fetch(.resolverBusy)),
        ])
    func own(_ failure: ImageError) {
        var cache = NegativeCache()
        cache.record(failure, for: "x", now: start)
        #expect(cache.count == 0)
    }

    @Test("Consecutive temporary failures are cached longer, up to two minutes")
    func strikes() {
        var cache = NegativeCache()
        for seconds in [10, 20, 40, 80, 120, 120] {
            cache.record(ImageError(.fetch(.connectFailed)), for: "x", now: start)
            #expect(cache.failure(for: "x", now: after(seconds - 1)) != nil)
            #expect(cache.failure(for: "x", now: after(seconds)) == nil)
        }
        cache.forget("x")
        cache.record(ImageError(.fetch(.connectFailed)), for: "x", now: start)
        #expect(cache.failure(for: "x", now: after(10)) == nil)
    }

    @Test("The number of entries is bounded")
    func bounded() {
        var cache = NegativeCache(capacity: 10)
        for number in 0..<1_000 { cache.record(ImageError(.typeMismatch), for: "\(number)", now: start) }
        #expect(cache.count == 10)
    }

    @Test("Connection failures open the circuit; one probe tests the host, and a response closes the circuit")
    func breaker() {
        var breaker = CircuitBreaker()
        for number in 0..<9 { breaker.record("h", number % 2 == 0 ? .good : .unreachable, now: start) }
        #expect(breaker.ask("h", now: start) == .closed)
        breaker.record("h", .unreachable, now: start)
        #expect(breaker.ask("h", now: start) == .open(until: after(10)))
        #expect(breaker.ask("other", now: start) == .closed)
        #expect(breaker.ask("h", now: after(10)) == .probe)
        #expect(breaker.ask("h", now: after(10)) == .open(until: after(11)))
        breaker.record("h", .unreachable, now: after(10))
        #expect(breaker.ask("h", now: after(15)) == .open(until: after(20)))
        #expect(breaker.ask("h", now: after(20)) == .probe)
        breaker.record("h", nil, now: after(20))
        #expect(breaker.ask("h", now: after(21)) == .probe)
        breaker.record("h", .badResponse, now: after(21))
        #expect(breaker.ask("h", now: after(21)) == .closed)
    }

    @Test("Bad responses reduce concurrency and never open the circuit")
    func gentle() {
        var breaker = CircuitBreaker()
        for _ in 0..<9 { breaker.record("h", .badResponse, now: start) }
        #expect(!breaker.isReduced("h", now: start))
        for _ in 0..<100 { breaker.record("h", .badResponse, now: start) }
        #expect(breaker.isReduced("h", now: after(9)) && breaker.ask("h", now: start) == .closed && breaker.openCount == 0)
        #expect(!breaker.isReduced("h", now: after(10)))
        breaker.record("h", .badResponse, now: after(11))
        #expect(breaker.isReduced("h", now: after(12)))
        breaker.record("h", .good, now: after(12))
        #expect(!breaker.isReduced("h", now: after(12)))
    }

    @Test("Old outcomes are ignored, and hosts are evicted")
    func window() {
        var rules = CircuitBreaker.Rules()
        rules.hosts = 5
        var breaker = CircuitBreaker(rules: rules)
        for _ in 0..<9 { breaker.record("h", .unreachable, now: start) }
        breaker.record("h", .unreachable, now: after(31))
        #expect(breaker.ask("h", now: after(31)) == .closed)
        for host in 0..<100 { for _ in 0..<10 { breaker.record("\(host)", .unreachable, now: after(32)) } }
        #expect(breaker.openCount <= 5)
    }

    @Test(
        "Each failure has a status and a code",
        arguments: [
            (ImageError(.fetch(.addressDenied)), 403, "address-denied"), (ImageError(.upstream(status: 404)), 404, "upstream-404"),
            (ImageError(.upstream(status: 500)), 502, "upstream-500"), (ImageError(.fetch(.totalTimeout)), 504, "total-timeout"),
            (ImageError(.typeMismatch), 415, "type-mismatch"), (ImageError(.overloaded), 503, "overloaded"),
            (ImageError(.cancelled), 499, "cancelled"), (ImageError(.fetch(.bodyTooLarge)), 502, "body-too-large"),
        ])
    func statuses(_ failure: ImageError, _ status: Int, _ code: String) {
        #expect(failure.status == status)
        #expect(failure.code == code)
        let answer = ImageResponse(failure, CacheStatus(.miss))
        #expect(answer.headers[.eTag] == nil && answer.headers[.lastModified] == nil)
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.imageError] == code)
        #expect((answer.headers[.retryAfter] != nil) == (status == 503))
    }
}
