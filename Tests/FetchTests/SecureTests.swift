import Fetch
import TestSupport
import Testing

@Suite("Fetching over TLS", .timeLimit(.minutes(1)))
struct SecureTests {
    private let here: Resolver.Lookup = { _ in .success(["127.0.0.1"].compactMap(IPAddress.init)) }

    @Test("The certificate and the name in it are checked")
    func verified() async throws {
        let origin = try SecureOrigin()
        let trusting = try Fetcher(ports: [origin.port], certificates: origin.certificate, lookup: here)
        let good = try await trusting.get("https://secure.example:\(origin.port)/")
        #expect(good.failure == .some(nil))
        #expect(good.head?.status == 200 && !good.body.isEmpty)
        let wrongName = try await trusting.get("https://other.example:\(origin.port)/")
        #expect(wrongName.failure == .some(.tlsFailed))
        let strict = try Fetcher(ports: [origin.port], lookup: here)
        let unknown = try await strict.get("https://secure.example:\(origin.port)/")
        #expect(unknown.failure == .some(.tlsFailed))
        await trusting.stop()
        await strict.stop()
    }
}
