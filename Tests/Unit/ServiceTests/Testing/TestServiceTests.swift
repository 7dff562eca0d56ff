import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Service inside a test process", .timeLimit(.untilStuck))
struct TestServiceTests {
    @Test("Equal requests have equal results in memory and on a socket", arguments: TestService.Transport.allCases)
    func ways(way: TestService.Transport) async throws {
        try await TestService.run(way, items: sampleItems(users: 30)) { service in
            let page = try await service.client.get("/feed?limit=3", fields: ["X-Viewer-ID": "v"])
            #expect(page.status == 200 && page["content-type"] == "application/json" && page["etag"] != nil)
            #expect(page.text.contains("user:0"))
            struct Page: Decodable { let cells: [Cell] }
            struct Cell: Decodable { let id: String }
            #expect(try page.decoded(as: Page.self).cells.contains { $0.id == "user:2" })
            #expect(try await service.client.post("/cells/user:0/dismissal", fields: ["X-Viewer-ID": "v"]).status == 200)
            #expect(try await !service.client.get("/feed", fields: ["X-Viewer-ID": "v"]).text.contains("user:0\""))
            #expect(try await service.client.get("/nowhere").status == 404)
            #expect(try await service.client.send(.head, "/feed").body.isEmpty)
            #expect(try await service.operators.put("/admin/items/user/new", body: sampleUser("new")).status / 100 == 2)
            #expect(try await service.client.get("/feed?limit=100").text.contains("user:new"))
        }
    }

    @Test("The service uses the clock of its test", arguments: TestService.Transport.allCases)
    func clock(way: TestService.Transport) async throws {
        try await TestService.run(
            way, items: sampleItems(users: 3), settings: ["actions.undo-window": "10min"], clock: TestClock(1_767_227_400_000)
        ) { service in
            let viewer = ["X-Viewer-ID": "v"]
            func undo(after pause: Duration) async throws -> Int {
                let answer = try await service.client.post("/cells/user:1/dismissal", fields: viewer)
                let match = try #require(answer.text.firstMatch(of: try Regex(#""(/invocations/[^"]+)""#)))
                service.clock.advance(by: pause)
                return try await service.client.delete(String(try #require(match.output[1].substring)), fields: viewer).status
            }
            let (early, late) = (try await undo(after: .seconds(599)), try await undo(after: .seconds(601)))
            #expect(early == 200 && late == 410)
        }
    }

    @Test("Values become items, and the stop removes the service's folder")
    func values() async throws {
        struct User: Encodable {
            let kind = "user"
            let id: String
            let username = "Ann"
            let avatarUrl = "http://pictures.sample.invalid/avatar-0.png"
            let type = "regular"
        }
        let service = try await TestService(items: try TestService.lines(of: [User(id: "a"), User(id: "b")]))
        #expect(try await service.client.get("/feed").text.contains("user:b"))
        #expect(FileManager.default.fileExists(atPath: service.folder))
        await service.stop()
        #expect(!FileManager.default.fileExists(atPath: service.folder))
    }

    @Test("Invalid settings, invalid items and a disabled operator listener are reported as errors")
    func faults() async throws {
        for way in TestService.Transport.allCases {
            await #expect(throws: ConfigurationError.self) { _ = try await TestService(way, settings: ["no.such": "1"]) }
            await #expect(throws: InvalidItem.self) { _ = try await TestService(way, items: "{}") }
            try await TestService.run(way, settings: ["admin.enabled": "false"]) { service in
                _ = await #expect(throws: TestServiceError.noListener) { _ = try await service.operators.get("/healthz") }
            }
        }
    }
}
