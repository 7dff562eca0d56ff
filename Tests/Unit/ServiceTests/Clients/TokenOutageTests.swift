import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Tokens while their keys are unavailable", .timeLimit(.untilStuck))
struct TokenOutageTests {
    @Test("Any number of tokens gets 503, and one error line a minute")
    func throttle() async throws {
        // Nothing listens on the port.
        let settings = ["viewers.jwt.jwks-url": "https://127.0.0.1:1/keys", "viewers.jwt.allowed-networks": "127.0.0.0/8"]
        try await TestService.run(items: sampleItems(users: 3), settings: settings) { service in
            func lines() -> [String] { service.log.lines.filter { $0.level == .error }.map(\.text) }
            // The header is {"alg":"ES256"}; the signatures differ.
            func send(_ signature: String) async throws {
                let token = "eyJhbGciOiJFUzI1NiJ9.e30.\(signature)"
                let response = try await service.client.get("/feed", fields: ["Authorization": "Bearer \(token)"])
                #expect(response.status == 503 && response["Retry-After"] == "1", "\(response.text)")
            }
            for signature in ["AA", "AQ", "Ag", "Aw"] { try await send(signature) }
            #expect(lines().count == 1 && lines().first?.hasPrefix("request failed ") == true, "\(lines())")
            service.clock.advance(by: .seconds(61))
            try await send("BA")
            #expect(lines().count == 2 && lines().last?.contains("since-the-last-line=3") == true, "\(lines())")
        }
    }

    @Test("The stop of a service does not wait for a server of keys that does not respond")
    func stop() async throws {
        let origin = try Origin { _, _ in }
        defer { origin.stop() }
        let settings = ["viewers.jwt.jwks-url": origin.url("/keys"), "viewers.jwt.allowed-networks": "127.0.0.0/8"]
        let service = try await TestService(.socket, items: sampleItems(users: 3), settings: settings)
        await origin.requested(1)
        await service.stop()
        // After a wait for the time limit, a warning says that the keys were not loaded.
        #expect(!service.log.lines.contains { $0.text.contains("keys of tokens") }, "\(service.log.lines)")
    }
}
