import Foundation
import IntertwineTesting
import Testing

@testable import IntertwineService

@Suite("Write rate limits of a client")
struct WriteLimiterTests {
    private static let start: Int64 = 1_767_227_400_000

    @Test("A client may use one minute's writes at once, and the allowance refills over time")
    func refill() {
        let limiter = WriteLimiter(address: 6, viewer: 1_000)
        func wait(_ seconds: Int64, _ group: WriteLimiter.Group = .actions) -> Int? {
            limiter.wait(group, address: "192.0.2.1", viewer: nil, now: Self.start + seconds * 1_000)
        }
        #expect((0..<6).allSatisfy { _ in wait(0) == nil })
        #expect(wait(0) == 10 && wait(3) == 7, "what is refused takes nothing")
        #expect(wait(0, .events) == nil && wait(0, .clients) == nil, "each group has its own")
        #expect(wait(10) == nil && wait(10) == 10)
        #expect(wait(20) == nil && wait(61) == nil)
    }

    @Test("A clock that is set back neither blocks a client nor gives it writes", arguments: [30, 60, 90, 120, 3_600] as [Int64])
    func clockSetBack(seconds: Int64) {
        let limiter = WriteLimiter(address: 6, viewer: 1_000)
        func wait(_ time: Int64) -> Int? { limiter.wait(.actions, address: "192.0.2.1", viewer: nil, now: Self.start + time * 1_000) }
        #expect((0..<6).allSatisfy { _ in wait(0) == nil } && wait(0) == 10)
        #expect(wait(-seconds) == 10 && wait(5 - seconds) == 5)
        #expect(wait(10 - seconds) == nil && wait(10 - seconds) == 10)
        // And forward again.
        #expect(wait(0) == (seconds > 19 ? nil : 10))
    }

    @Test("A flood of networks does not reset the limits of a client")
    func flood() {
        let limiter = WriteLimiter(address: 6, viewer: 1_000)
        func wait(_ address: String) -> Int? { limiter.wait(.actions, address: address, viewer: nil, now: Self.start) }
        for _ in 0..<6 { #expect(wait("192.0.2.1") == nil) }
        for number in 0..<140_000 { _ = wait("2001:db8:\(String(number >> 16, radix: 16)):\(String(number & 0xFFFF, radix: 16))::1") }
        #expect(wait("192.0.2.1") == 10)
    }

    @Test("A concurrent request with an earlier time does not refill the bucket")
    func disorder() {
        let limiter = WriteLimiter(address: 6, viewer: 1_000)
        func wait(_ seconds: Int64) -> Int? { limiter.wait(.actions, address: "192.0.2.1", viewer: nil, now: Self.start + seconds * 1_000) }
        #expect((0..<6).allSatisfy { _ in wait(5) == nil })
        #expect(wait(4) == 11 && wait(5) == 10)
    }

    @Test("Concurrent requests that were admitted together are all counted, and many of them do not fill the bucket")
    func debt() {
        let limiter = WriteLimiter(address: 6, viewer: 1_000)
        let network = WriteLimiter.network(of: "192.0.2.1")
        func pause(_ seconds: Int64) -> Int? { limiter.pause(.tokens, network: network, now: Self.start + seconds * 1_000) }
        for _ in 0..<9 { limiter.consume(.tokens, network: network, now: Self.start) }
        #expect(pause(0) == 40 && pause(39) == 1 && pause(40) == nil)
        for _ in 0..<1_000 { limiter.consume(.tokens, network: network, now: Self.start + 40_000) }
        #expect(pause(40) == 40 && pause(39) == 41)
    }

    @Test("Each address, IPv6 network and viewer has a separate rate limit")
    func clients() {
        let limiter = WriteLimiter(address: 4, viewer: 2)
        func isAdmitted(_ address: String, _ viewer: String? = nil) -> Bool {
            limiter.wait(.actions, address: address, viewer: viewer, now: Self.start) == nil
        }
        #expect(isAdmitted("192.0.2.1", "ann") && isAdmitted("192.0.2.2", "ann") && !isAdmitted("192.0.2.3", "ann"))
        #expect(isAdmitted("192.0.2.3", "bob") && isAdmitted("192.0.2.1") && isAdmitted("192.0.2.1") && isAdmitted("192.0.2.1"))
        #expect(!isAdmitted("192.0.2.1") && !isAdmitted("::ffff:192.0.2.1", "eve") && isAdmitted("192.0.2.9", "eve"))
        let network = (0..<5).map { isAdmitted("2001:db8::\($0)") }
        #expect(network == [true, true, true, true, false] && isAdmitted("2001:db8:0:1::1"))
    }

    @Test("The limiter's memory is bounded, and a new address is still limited")
    func capacity() {
        let limiter = WriteLimiter(address: 1, viewer: 1)
        for number in 0..<200_000 {
            _ = limiter.wait(.actions, address: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", viewer: nil, now: Self.start)
        }
        _ = limiter.wait(.actions, address: "192.0.2.1", viewer: nil, now: Self.start)
        #expect(limiter.wait(.actions, address: "192.0.2.1", viewer: nil, now: Self.start) != nil)
    }

    @Test("After Retry-After the same idempotency key is performed, and its response is repeated")
    func keys() async throws {
        try await TestService.run(
            .memory, items: sampleItems(users: 2), settings: ["limits.writes-per-address": "2"], clock: TestClock(Self.start)
        ) { service in
            func select(_ key: String) async throws -> TestResponse {
                try await service.client.post("/cells/user:0/selection", fields: ["Idempotency-Key": key, "User-Agent": "x"])
            }
            let first = try await select("a")
            let again = try await select("a")
            #expect(first.status == 200 && again.text == first.text)
            for key in ["a", "b", "c"] {
                let refused = try await select(key)
                #expect(refused.status == 429 && refused["retry-after"] == "30" && refused.text.contains("problems/rate-limited"))
            }
            service.clock.advance(by: .seconds(30))
            let late = try await select("b")
            #expect(late.status == 200 && late.text != first.text)
            service.clock.advance(by: .seconds(60))
            for (key, text) in [("a", first.text), ("b", late.text)] { #expect(try await select(key).text == text) }
        }
    }
}
