import Testing

@testable import IntertwineHTTPServer

@Suite("Limits of connections")
struct ConnectionLimiterTests {
    private func isAdmitted(_ address: String, by limiter: ConnectionLimiter) throws -> Bool {
        if case .admitted = limiter.acquire(try #require(PeerAddress(address, port: 80))) { true } else { false }
    }

    @Test(
        "A client has the connections of one IPv4 address, or of a network of 64 bits",
        arguments: [
            (["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1"], [true, true, false, true]),
            (["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.1", "192.0.2.1"], [true, true, true, true, false]),
            (["::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"], [true, true, false, true]),
            (["fe80::1", "fe80::2", "fe80::3", "fe80:0:0:1::1"], [true, true, false, true]),
        ])
    func peers(addresses: [String], expected: [Bool]) throws {
        let limiter = ConnectionLimiter(limit: 100, peerLimit: 2)
        #expect(try addresses.map { try isAdmitted($0, by: limiter) } == expected)
    }

    @Test("A closed connection makes room for another address of its network")
    func released() throws {
        let limiter = ConnectionLimiter(limit: 100, peerLimit: 1)
        #expect(try isAdmitted("2001:db8::1", by: limiter) && !isAdmitted("2001:db8::2", by: limiter))
        #expect(limiter.release(try #require(PeerAddress("2001:db8::1", port: 80))) == 0)
        #expect(try isAdmitted("2001:db8::2", by: limiter))
    }
}
