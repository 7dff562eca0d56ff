import Synchronization
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Rate limit of failed authentications")
struct AuthFailureLimiterTests {
    private final class Clock: Sendable {
        private let elapsed = Mutex(Duration.zero)
        private let start = ContinuousClock.now

        func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }

        func now() -> ContinuousClock.Instant { start + elapsed.withLock { $0 } }
    }

    @Test("Ten failures within a minute block an address until its end; other addresses are unaffected")
    func limit() throws {
        let clock = Clock()
        let limiter = AuthFailureLimiter { clock.now() }
        let (one, other) = (try peer("192.0.2.1", 1), try peer("192.0.2.2", 1))
        for guess in 1...10 {
            #expect(limiter.wait(of: one) == nil)
            #expect(limiter.fail(one) == (guess == 10))
            clock.advance(by: .seconds(1))
        }
        // The port does not matter.
        #expect(limiter.wait(of: try peer("192.0.2.1", 2)) == 51)
        #expect(limiter.wait(of: other) == nil)
        clock.advance(by: .milliseconds(49_999))
        #expect(limiter.wait(of: one) == 1)
        clock.advance(by: .milliseconds(1))
        #expect(limiter.wait(of: one) == nil)
        #expect(!limiter.fail(one))
        #expect(limiter.wait(of: one) == nil)
    }

    @Test("IPv6 addresses in one 64-bit network share a rate limit")
    func networks() throws {
        let limiter = AuthFailureLimiter()
        for guess in 1...10 { _ = limiter.fail(try peer("2001:db8::\(guess)", 1)) }
        #expect(limiter.wait(of: try peer("2001:db8::ffff:1", 1)) != nil)
        #expect(limiter.wait(of: try peer("2001:db8:0:1::1", 1)) == nil)
    }

    @Test("The table of addresses is bounded and discards the oldest entry")
    func bounded() throws {
        let clock = Clock()
        let limiter = AuthFailureLimiter { clock.now() }
        for _ in 0..<10 { _ = limiter.fail(try peer("192.0.2.1", 1)) }
        for address in 0..<AuthFailureLimiter.capacity {
            clock.advance(by: .milliseconds(1))
            _ = limiter.fail(try peer("10.0.\(address >> 8).\(address & 255)", 1))
        }
        #expect(limiter.wait(of: try peer("192.0.2.1", 1)) == nil)
    }

    private func peer(_ address: String, _ port: UInt16) throws -> PeerAddress {
        try #require(PeerAddress(address, port: port))
    }
}
