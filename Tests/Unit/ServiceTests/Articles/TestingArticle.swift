// The imports of the article follow.
// swift-format-ignore-file: OrderedImports
@testable import ExtensionProbe

// article: TestingYourFeed
import IntertwineService
import IntertwineTesting
import Testing

@Suite("The feed of cards")
struct CardTests {
    private static let items = #"{"kind":"card","id":"1","text":"Hello","size":"small"}"#

    @Test("A card is shown, rated, and no longer undone after ten minutes", arguments: TestService.Transport.allCases)
    func rate(transport: TestService.Transport) async throws {
        struct Rated: Decodable {
            struct Undo: Decodable { let href: String }
            let undo: Undo
        }
        try await TestService.run(
            transport, items: Self.items, settings: ["actions.undo-window": "10min"], extensions: ratedCards { true }
        ) { service in
            let viewer = ["X-Viewer-ID": "ann"]
            #expect(try await service.client.get("/feed").text.contains("Hello"))
            #expect(try await service.client.post("/cells/card:1/rate", fields: viewer, body: #"{"stars": 9}"#).status == 422)
            let answer = try await service.client.post("/cells/card:1/rate", fields: viewer, json: ["stars": 4])
            service.clock.advance(by: .seconds(601))
            #expect(try await service.client.delete(answer.decoded(as: Rated.self).undo.href, fields: viewer).status == 410)
            #expect(service.log.lines.allSatisfy { $0.level < .warning })
        }
    }

    @Test("A new card is announced to open pages")
    func announcement() async throws {
        struct Feed: Decodable {
            struct Page: Decodable { let syncToken: String }
            let page: Page
        }
        try await TestService.run(.socket, items: Self.items, extensions: cards) { service in
            let token = try await service.client.get("/feed?changes=true").decoded(as: Feed.self).page.syncToken
            let updates = try await service.client.stream("/feed/changes?syncToken=\(token)")
            _ = try await service.operators.put("/admin/items/card/2", json: ["text": "News", "size": "small"])
            let data = try await updates.first { $0.hasPrefix("data:") }
            #expect(data?.contains("card:2") == true)
        }
    }
}
// article: end
