import Foundation
import IntertwineTesting
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineImages
@testable import IntertwineService

@Suite("Rankers over HTTP", .timeLimit(.untilStuck))
struct RankerTests {
    private struct Page: Decodable {
        struct Cell: Decodable {
            let id: String
            let reason: String?
        }
        struct Paging: Decodable {
            let next: String?
            let degraded: Bool?
        }

        let cells: [Cell]
        let page: Paging
        var ids: [String] { cells.map(\.id).filter { !$0.hasPrefix("ad:") && !$0.hasPrefix("section:") } }
    }

    /// Runs a service whose feed is ranked by a server that answers with `body`.
    private func run(
        _ settings: [String: String] = [:], declaring more: String = "", items: String = sampleItems(users: 9),
        answer: @escaping @Sendable (Origin.Request, OriginConnection) -> Void,
        _ body: @escaping @Sendable (TestService, Origin) async throws -> Void
    ) async throws {
        let origin = try Origin(answer: answer)
        defer { origin.stop() }
        let file = NSTemporaryDirectory() + "ranked-\(UUID()).yaml"
        let declared = "feeds:\n  main: {sections: [main], ranked-by: \"\(origin.url("/rank?model=a"))\"}\n  plain: [main]\n"
        let all = declared + more.replacing("RANKER", with: origin.url("/rank"))
        try Data(all.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let settings = settings.merging(["kinds.file": file, "viewers.attributes-header": "X-Attributes"]) { $1 }
        try await TestService.run(.socket, items: items, settings: settings) { try await body($0, origin) }
    }

    @Test("A page has the ranker's items with their reasons, and the ranker gets the request's facts")
    func page() async throws {
        try await run { request, connection in
            let isNext = request.path.contains("cursor=n%26")
            let text =
                isNext
                ? #"{"items":[{"id":"user:1"},{"id":"user:4"}]}"#
                : #"{"items":[{"id":"user:4","reason":"Because you follow \"Ada\""},{"id":"user:77"},{"id":"user:2"}],"cursor":"n&"}"#
            connection.answer(200, body: Array(text.utf8))
        } _: { service, origin in
            let fields = ["X-Viewer-ID": "ann b", "X-Attributes": "group=a"]
            let response = try await service.client.get("/feed?limit=2", fields: fields)
            let page: Page = try response.decoded()
            // Items beyond the limit are ignored, and a further request takes the place of an item that does not exist.
            #expect(page.ids == ["user:4", "user:1"] && page.page.next == nil, "\(response.text)")
            #expect(page.cells.first { $0.id == "user:4" }?.reason == #"Because you follow "Ada""# && page.page.degraded == nil)
            #expect(response["cache-control"] == "private, no-cache")
            let facts = "viewer=ann%20b"
            #expect(
                origin.requests.map(\.path) == [
                    "/rank?model=a&feed=main&limit=2&\(facts)&attribute.group=a",
                    "/rank?model=a&feed=main&limit=1&\(facts)&cursor=n%26&attribute.group=a",
                ])
            let plain: Page = try await service.client.get("/feeds/plain?limit=2", fields: fields).decoded()
            #expect(plain.ids == ["user:0", "user:1"])
        }
    }

    @Test("Items that the filter of the request excludes are left out, and the next request of the page fills their places")
    func filter() async throws {
        let declaration = """
              towns: {sections: [towns], filters: [city, tags], ranked-by: "RANKER"}
            sections:
              towns: {kinds: [town]}
            kinds:
              town:
                fields: {city: {type: text, max: 20}, tags: tags}
                cells: {collection: {identifier: TownCell, size: {width: 300, height: 100}, bind: {title: {text: city}}}}

            """
        // A composed and a decomposed ö are different values, for pages as for counts.
        let towns = ["Malm\u{F6}", "Malmo\u{308}", "Malmo\u{308}", "Oslo"].enumerated().map {
            #"{"kind":"town","id":"\#($0)","city":"\#($1)","tags":["\#($1)","north"]}"#
        }
        try await run(["feed.ranker-timeout": "10s"], declaring: declaration, items: towns.joined(separator: "\n")) { request, connection in
            // One item an answer.
            let number = request.path.firstRange(of: "cursor=").flatMap { Int(String(request.path[$0.upperBound...].prefix(1))) } ?? 0
            let cursor = number < 3 ? #","cursor":"\#(number + 1)""# : ""
            connection.answer(200, body: Array(#"{"items":[{"id":"town:\#([0, 2, 3, 1][number])"}]\#(cursor)}"#.utf8))
        } _: { service, _ in
            for (query, expected) in [
                ("city=Oslo", ["3"]), ("city=Malmo%CC%88", ["2", "1"]), ("tags=Malm%C3%B6", ["0"]), ("tags=north", ["0", "2"]),
                ("city=Oslo&city=Malm%C3%B6", ["0", "3"]), ("city=Oslo&tags=Malm%C3%B6", []), ("city=none", []),
            ] {
                let page: Page = try await service.client.get("/feeds/towns?limit=2&\(query)").decoded()
                #expect(page.ids == expected.map { "town:\($0)" }, "\(query)")
            }
            struct Feeds: Decodable {
                struct Feed: Decodable { let name: String, filters: [Filter]? }
                struct Filter: Decodable { let values: [Value] }
                struct Value: Decodable { let value: String, count: Int }
                let feeds: [Feed]
            }
            let feeds: Feeds = try await service.client.get("/feeds").decoded()
            let values = feeds.feeds.first { $0.name == "towns" }?.filters?.first?.values ?? []
            // Swift's strings would be equal.
            #expect(values.map { Array($0.value.utf8) } == ["Malmo\u{308}", "Malm\u{F6}", "Oslo"].map { Array($0.utf8) })
            #expect(values.map(\.count) == [2, 1, 1])
        }
    }

    @Test(
        "An invalid, slow or missing answer shows the feed's own order",
        arguments: [#"{"items":[{"id":3}]}"#, #"{"items":[],"cursor":""}"#, "slow", "status", "long", "moved"])
    func failures(answer: String) async throws {
        try await run(["feed.ranker-timeout": "150ms"]) { _, connection in
            switch answer {
            case "slow": usleep(1_500_000)
            case "status": connection.answer(503)
            case "long": connection.answer(200, body: Array(#"{"items":[],"x":"\#(String(repeating: "x", count: 300_000))"}"#.utf8))
            case "moved": connection.answer(302, ["Location: /elsewhere"])
            default: connection.answer(200, body: Array(answer.utf8))
            }
        } _: { service, _ in
            let start = ContinuousClock.now
            let response = try await service.client.get("/feed?limit=3")
            let page: Page = try response.decoded()
            #expect(response.status == 200 && page.page.degraded == true, "\(response.text)")
            #expect(page.ids == ["user:0", "user:1", "user:2"])
            #expect(start.duration(to: .now) < .seconds(1.4))
            let next: Page = try await service.client.get(try #require(page.page.next)).decoded()
            #expect(next.ids == ["user:3", "user:4", "user:5"] && next.page.degraded == true)
        }
    }

    @Test("A ranker that fails repeatedly is not asked for a while")
    func breaker() async throws {
        try await run { _, connection in
            connection.answer(500)
        } _: { service, origin in
            for _ in 0..<30 {
                let response = try await service.client.get("/feed")
                #expect(response.status == 200)
            }
            #expect(origin.requests.count < 15, "\(origin.requests.count)")
            let (failed, refused) = try await offPool {
                (
                    try service.metric(#"intertwine_ranker_requests_total{outcome="failed"}"#),
                    try service.metric(#"intertwine_ranker_requests_total{outcome="refused"}"#)
                )
            }
            #expect(failed == origin.requests.count && failed + refused == 30)
            let page = try await service.client.get("/feeds/plain")
            #expect(page.status == 200)
        }
    }

    @Test("Requests beyond the bound do not wait for the ranker")
    func bound() async throws {
        let gate = Gate()
        try await run(["feed.ranker-requests": "2", "feed.ranker-timeout": "10s"]) { _, connection in
            gate.wait()
            connection.answer(200, body: Array(#"{"items":[{"id":"user:8"}]}"#.utf8))
        } _: { service, origin in
            let waiting = (0..<2).map { number in Task { try await service.client.get("/feed?limit=\(number + 1)").decoded(as: Page.self) }
            }
            await origin.requested(2)
            let page: Page = try await service.client.get("/feed?limit=3").decoded()
            #expect(page.page.degraded == true && page.ids == ["user:0", "user:1", "user:2"])
            gate.open()
            for task in waiting {
                let page = try await task.value
                #expect(page.ids == ["user:8"])
            }
        }
    }

    @Test("ranked-by must be an HTTP URL")
    func declaration() throws {
        func feeds(_ url: String) throws -> DeclaredFeeds {
            let text = "feeds: {main: {sections: [main], ranked-by: \(url)}}"
            return try KindsFile(YAMLFile.root(of: text, from: "kinds.yaml"), policy: .stop, besides: .standard).feeds
        }
        #expect(try feeds("https://rank.example.com/a?b=c").rankers["main"]?.text == "https://rank.example.com/a?b=c")
        for text in ["ftp://example.com/", "rank", "''"] {
            #expect(throws: ConfigurationError.self, "\(text)") { _ = try feeds(text) }
        }
    }
}
