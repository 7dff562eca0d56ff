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
        arguments: [
            #"{"items":[{"id":3}]}"#, #"{"items":[3]}"#, #"{"items":["user:4"]}"#, #"{"items":[null,[]]}"#, #"{"items":["user:4"]"#,
            #"{"items":{}}"#, #"{"cursor":"1"}"#, "",
            "slow", "status", "long",
            "moved",
        ])
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

    @Test("What is wrong in an entry costs that entry, or its reason")
    func entries() async throws {
        let wrong = [
            "null", "3", #""user:3""#, "[]", "{}", #"{"id":null}"#, #"{"id":3}"#, #"{"id":""}"#, #"{"id":["user:3"]}"#,
            #"{"id":"user:77"}"#, #"{"id":"user:4"}"#, #"{"id":"ad:1"}"#, #"{"id":"user"}"#, #"{"id":"none:1"}"#,
            #"{"id":"user:\ud800"}"#, #"{"id":"a","id":"b"}"#, "NaN",
            #"{"id":"\#(String(repeating: "x", count: 5_000))"}"#, #"{"id":"user:\u0000"}"#,
        ]
        let reasons = ["7", "null", "{}", "\"\"", #""\#(String(repeating: "x", count: 501))""#].enumerated().map {
            #"{"id":"user:\#($0 + 4)","reason":\#($1)}"#
        }
        let entries = [reasons[0]] + wrong + reasons[1...] + [#"{"id":"user:1","reason":"good","x":"\ud800","y":NaN}"#]
        try await run { _, connection in
            connection.answer(200, body: Array("\u{FEFF}{\"items\":[\(entries.joined(separator: ","))],\"cursor\":null}".utf8))
        } _: { service, origin in
            let response = try await service.client.get("/feed?limit=50")
            let page: Page = try response.decoded()
            #expect(page.ids == ["user:4", "user:5", "user:6", "user:7", "user:8", "user:1"], "\(response.text)")
            #expect(page.cells.compactMap(\.reason) == ["good"] && page.page.degraded == nil && origin.requests.count == 1)
        }
    }

    @Test("HEAD requests and robots without a name get the feed's own order, and the ranker is not asked")
    func unasked() async throws {
        try await run { _, connection in
            connection.answer(200, body: Array(#"{"items":[{"id":"user:8"},{"id":"user:7"}],"cursor":"n"}"#.utf8))
        } _: { service, origin in
            let robot = ["User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"]
            let person = ["User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"]
            let ranked: Page = try await service.client.get("/feed?limit=1", fields: person).decoded()
            #expect(ranked.ids == ["user:8"] && origin.requests.count == 1)
            // The second query takes the route that reads all parameters.
            for query in ["limit=1", "limit=1&layout=collection"] {
                let head = try await service.client.send(.head, "/feed?\(query)", fields: person)
                #expect(head.status == 200 && head["content-type"] == "application/json")
                let page: Page = try await service.client.get("/feed?\(query)", fields: robot).decoded()
                #expect(page.ids == ["user:0"] && page.page.degraded == nil)
                let next: Page = try await service.client.get(try #require(page.page.next), fields: robot).decoded()
                #expect(next.ids == ["user:1"] && next.page.degraded == nil)
            }
            // A robot that follows a person's link repeats nothing.
            let next: Page = try await service.client.get(try #require(ranked.page.next), fields: robot).decoded()
            #expect(next.ids == ["user:0"])
            #expect(origin.requests.count == 1)
            _ = try await service.client.get("/feed?limit=1", fields: robot.merging(["X-Viewer-ID": "ann"]) { $1 })
            #expect(origin.requests.count == 2)
        }
    }

    @Test("Operators preview the ranker's order, as the viewer, and the ranker knows that it is a preview")
    func preview() async throws {
        let fails = Atomic(false)
        try await run { _, connection in
            if fails.load(ordering: .relaxed) { return connection.answer(500) }
            connection.answer(200, body: Array(#"{"items":[{"id":"user:8","reason":"new"},{"id":"user:7"}],"cursor":"n"}"#.utf8))
        } _: { service, origin in
            func page(_ href: String) async throws -> Page { try await service.operators.get(href).decoded() }
            let first = try await page("/admin/preview/feeds/main?limit=2&viewer=ann")
            #expect(first.ids == ["user:8", "user:7"] && first.cells.compactMap(\.reason) == ["new"] && first.page.degraded == nil)
            #expect(origin.requests.map(\.path) == ["/rank?model=a&feed=main&limit=2&viewer=ann&preview=true"])
            _ = try await page(try #require(first.page.next))
            #expect(origin.requests.dropFirst().allSatisfy { $0.path.contains("cursor=n") && $0.path.hasSuffix("&preview=true") })
            fails.store(true, ordering: .relaxed)
            // It was not remembered as the viewer's last ranking.
            let own: Page = try await service.client.get("/feed?limit=2", fields: ["X-Viewer-ID": "ann"]).decoded()
            #expect(own.ids == ["user:0", "user:1"] && own.page.degraded == true)
            let degraded = try await page("/admin/preview/feeds/main?limit=2&viewer=ann")
            #expect(degraded.ids == ["user:0", "user:1"] && degraded.page.degraded == true)
        }
    }

    @Test("The erasure of a viewer removes the last ranking from memory")
    func erasure() async throws {
        let fails = Atomic(false)
        try await run { _, connection in
            if fails.load(ordering: .relaxed) { return connection.answer(500) }
            connection.answer(200, body: Array(#"{"items":[{"id":"user:8"}]}"#.utf8))
        } _: { service, _ in
            func first() async throws -> [String] {
                var found: [String] = []
                for viewer in ["ann", "bob"] {
                    found += try await service.client.get("/feed?limit=1", fields: ["X-Viewer-ID": viewer]).decoded(as: Page.self).ids
                }
                return found
            }
            var found = [try await first()]
            fails.store(true, ordering: .relaxed)
            found.append(try await first())
            let answer = try await service.operators.delete("/admin/viewers/ann")
            found.append(try await first())
            #expect(answer.status == 200 && found == [["user:8", "user:8"], ["user:8", "user:8"], ["user:0", "user:8"]])
        }
    }

    @Test("After 200 requests that a ranker leaves unanswered, nothing of them remains")
    func timeouts() async throws {
        let gate = Gate()
        defer { gate.open() }
        let settings = ["feed.ranker-timeout": "2s", "feed.ranker-requests": "300", "limits.requests-per-connection": "100000"]
        try await run(settings) { request, connection in
            if !request.path.contains("limit=1&") { gate.wait() }
            connection.answer(200, body: Array(#"{"items":[{"id":"user:8"}]}"#.utf8))
        } _: { service, _ in
            let first: Page = try await service.client.get("/feed?limit=1", fields: ["X-Viewer-ID": "ann"]).decoded()
            #expect(first.ids == ["user:8"])
            let (descriptors, threads) = (ProcessFacts.descriptors, ProcessFacts.threads)
            // At once, because a ranker that fails again and again is not asked.
            let waits = try await withThrowingTaskGroup(of: Duration.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let start = ContinuousClock.now
                        let page: Page = try await service.client.get("/feed?limit=2", fields: ["X-Viewer-ID": "v\(number)"]).decoded()
                        #expect(page.page.degraded == true && page.ids == ["user:0", "user:1"])
                        return start.duration(to: .now)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(waits.max() ?? .zero < .seconds(8))
            let failed = try await offPool { try service.metric(#"intertwine_ranker_requests_total{outcome="failed"}"#) }
            #expect(failed >= 150, "\(failed)")
            for _ in 0..<200 {
                let start = ContinuousClock.now
                let page: Page = try await service.client.get("/feed?limit=2").decoded()
                #expect(page.page.degraded == true && start.duration(to: .now) < .seconds(2))
            }
            gate.open()
            try await offPool { try poll { ProcessFacts.descriptors <= descriptors + 8 && ProcessFacts.threads <= threads + 8 } }
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
