import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Names of viewers from senders that are no trusted proxies", .timeLimit(.untilStuck))
struct UntrustedViewerTests {
    @Test("Each route that acts for a viewer refuses the name", arguments: TestService.Transport.allCases)
    func refusal(way: TestService.Transport) async throws {
        // The test's own address is not in the list.
        let settings = ["server.trusted-proxies": "10.0.0.0/8"]
        try await TestService.run(way, items: sampleItems(users: 30), settings: settings) { service in
            let viewer = ["X-Viewer-ID": "mallory", "Content-Type": "application/json"]
            for path in ["/feed", "/feed?limit=3", "/feed?limit=3&layout=table", "/cells/user:0", "/saved", "/dismissed"] {
                let response = try await service.client.get(path, fields: viewer)
                #expect(response.status == 403 && response.text.contains("/problems/viewer-untrusted"), "\(path) \(response.text)")
                #expect(response.text.contains("server.trusted-proxies"))
            }
            for (path, body) in [
                ("/cells/user:0/dismissal", ""), ("/events", #"{"events":[]}"#), ("/feed/changes", #"{"syncTokens":["AA"]}"#),
            ] {
                let response = try await service.client.post(path, fields: viewer, body: body)
                #expect(response.status == 403 && response.text.contains("/problems/viewer-untrusted"), "\(path) \(response.text)")
            }
            // Anonymous requests and routes without a viewer are served.
            for fields in [[:], ["X-Viewer-ID": ""]] { #expect(try await service.client.get("/feed", fields: fields).status == 200) }
            #expect(try await service.client.get("/healthz", fields: viewer).status == 200)
        }
    }
}
