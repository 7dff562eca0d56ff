import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

/// Each test has a listener where nothing may ever arrive.
@Suite("No packet reaches a forbidden address", .timeLimit(.untilStuck))
struct ForbiddenAddressTests {
    private let trap: Origin

    init() throws {
        trap = try Origin("0.0.0.0") { _, connection in connection.answer(200, body: [1]) }
    }

    private func expectSilence() {
        trap.stop()
        #expect(trap.connections == 0)
        #expect(Fetcher.proxyTrap?.connections == 0)
    }

    @Test(
        "As a literal (CVE-2023-30019), also in IPv6 forms",
        arguments: [
            "127.0.0.1", "127.1", "0", "0.0.0.0", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1",
            "１２７.0.0.1", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
            "[2001:0:7f00:1::ffff]", "[2001:0:808:808:0:0:80ff:fffe]", "[2606:4700::5efe:7f00:1]", "127.0.0.2", "169.254.169.254",
        ])
    func literals(_ host: String) async throws {
        let fetcher = try Fetcher(ports: [trap.port], allowed: [])
        let fetched = try await fetcher.get("http://\(host):\(trap.port)/")
        #expect(fetched.failure == .some(.addressDenied))
        await fetcher.stop()
        expectSilence()
    }

    @Test(
        "By a public name with a private address",
        arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "10.0.0.1", "0.0.0.0"])
    func named(_ address: String) async throws {
        let answer = [try #require(IPAddress(address))]
        let fetcher = try Fetcher(ports: [trap.port], allowed: [], lookup: { _ in .success(answer) })
        let fetched = try await fetcher.get("http://innocent.example:\(trap.port)/")
        #expect(fetched.failure == .some(.addressDenied))
        await fetcher.stop()
        expectSilence()
    }

    @Test("By the system's resolution of localhost")
    func localhost() async throws {
        let fetcher = try Fetcher(ports: [trap.port], allowed: [], lookup: SystemLookup.addresses)
        for host in ["localhost", "localhost.", "LOCALHOST"] {
            let fetched = try await fetcher.get("http://\(host):\(trap.port)/")
            #expect(fetched.failure == .some(.addressDenied))
        }
        await fetcher.stop()
        expectSilence()
    }

    @Test("Among other addresses: only permitted ones are tried")
    func mixed() async throws {
        let origin = try Origin("127.0.0.1") { _, connection in connection.answer(200, body: [5]) }
        defer { origin.stop() }
        let forbidden = try Origin("127.0.0.2", port: origin.port) { _, connection in connection.answer(200, body: [6]) }
        let answer = ["127.0.0.2", "127.0.0.1"].compactMap(IPAddress.init)
        let fetcher = try Fetcher(ports: [origin.port], lookup: { _ in .success(answer) })
        let fetched = try await fetcher.get("http://mixed.example:\(origin.port)/")
        #expect(fetched.body == [5])
        await fetcher.stop()
        forbidden.stop()
        #expect(forbidden.connections == 0)
    }

    @Test("After rebinding: the resolved address is pinned, and a later private one is refused")
    func rebinding() async throws {
        let origin = try Origin("127.0.0.1") { _, connection in
            connection.answer(200, ["Connection: close"], body: [5])
            connection.finish()
        }
        defer { origin.stop() }
        let forbidden = try Origin("127.0.0.2", port: origin.port) { _, connection in connection.answer(200, body: [6]) }
        let answers = ["127.0.0.1", "127.0.0.2"].compactMap(IPAddress.init)
        let asked = Mutex(0)
        var configuration = Resolver.Configuration()
        configuration.positive = .zero
        let resolver = Resolver(configuration: configuration) { _ in
            .success([
                answers[
                    asked.withLock { count in
                        defer { count += 1 }; return min(count, 1)
                    }]
            ])
        }
        let base = try Fetcher(ports: [origin.port])
        let transfers = CurlClient(on: base.loop, policy: base.transfers.policy, resolver: resolver)
        var failures: [FetchError??] = []
        for _ in 0..<3 {
            let fetched = Fetched()
            _ = transfers.start(FetchRequest(try FetchURL("http://rebind.example:\(origin.port)/"))) { fetched.handle($0) }
            await fetched.ended()
            failures.append(fetched.failure)
        }
        #expect(failures == [.some(nil), .some(.addressDenied), .some(.addressDenied)])
        #expect(asked.withLock { $0 } == 3)
        await transfers.shutDown()
        await base.stop()
        forbidden.stop()
        #expect(forbidden.connections == 0)
        #expect(origin.connections == 1)
    }

    @Test(
        "By redirects, at each hop (CVE-2019-14255, GHSA-rh5x-h6pp-cjj6)", arguments: [1, 2, 3],
        ["http://127.0.0.2:PORT/", "//127.0.0.2:PORT/", "http://[::1]:PORT/", "http://0x7f.2:PORT/", "http://private.example:PORT/"])
    func redirected(_ hop: Int, _ target: String) async throws {
        let port = trap.port
        let origin = try Origin { request, connection in
            let count = (Int(request.path.dropFirst()) ?? 0) + 1
            let location = count == hop ? target.replacing("PORT", with: String(port)) : "/\(count)"
            connection.answer(302, ["Location: \(location)"])
        }
        defer { origin.stop() }
        let answer = ["127.0.0.2"].compactMap(IPAddress.init)
        let fetcher = try Fetcher(ports: [origin.port, port], lookup: { _ in .success(answer) })
        let fetched = try await fetcher.get(origin.url("/0"))
        #expect(fetched.failure == .some(.addressDenied))
        #expect(origin.requests.count == hop)
        await fetcher.stop()
        expectSilence()
    }

    @Test(
        "By redirects to another scheme, port, or with a user",
        arguments: [
            ("file:///etc/passwd", FetchError.schemeDenied), ("ftp://127.0.0.1/", .schemeDenied),
            ("gopher://127.0.0.1:6379/_INFO", .schemeDenied),
            ("dict://127.0.0.1:6379/info", .schemeDenied), ("http://127.0.0.1:22/", .portDenied), ("http://127.0.0.1:6379/", .portDenied),
            ("http://a:b@127.0.0.1:PORT/", .userinfoDenied), ("http://[fe80::1%25lo]/", .malformedURL), ("http://", .malformedURL),
        ])
    func redirectedElsewhere(_ target: String, _ failure: FetchError) async throws {
        let port = trap.port
        let origin = try Origin { _, connection in connection.answer(302, ["Location: \(target.replacing("PORT", with: String(port)))"]) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port, port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.failure == .some(failure))
        #expect(origin.requests.count == 1)
        await fetcher.stop()
        expectSilence()
    }

    @Test("The environment's proxy is not used")
    func proxy() async throws {
        let origin = try Origin { _, connection in connection.answer(200, body: [5]) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await fetcher.get(origin.url())
        #expect(fetched.body == [5])
        await fetcher.stop()
        expectSilence()
    }
}
