import Foundation
import FoundationNetworking
import IntertwineTesting
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import ExtensionProbe
@testable import IntertwineService

/// The code in the articles of `IntertwineService.docc` and the tutorial is in this folder or in that of the program `ExtensionProbe`, and is
/// compiled and run here.
@Suite("Articles for programs that embed the service", .timeLimit(.untilStuck))
struct ArticleTests {
    @Test(
        "The code in each article equals the compiled code",
        arguments: [
            ("Embedding", "EmbeddingArticle"), ("CellOfYourOwn", "ExtensionProbe/CellArticle"),
            ("CommandOfYourOwn", "ExtensionProbe/CommandArticle"), ("DataSourceOfYourOwn", "ExtensionProbe/DataSourceArticle"),
            ("RoutesOfYourOwn", "RoutesArticle"), ("KindOfYourOwn", "ExtensionProbe/KindArticle"), ("CommandInput", "InputArticle"),
            ("PlacementOfYourOwn", "ExtensionProbe/PlacementArticle"), ("MiddlewareOfYourOwn", "ExtensionProbe/MiddlewareArticle"),
            ("AdSourceOfYourOwn", "ExtensionProbe/AdSourceArticle"),
            ("TestingYourFeed", "TestingArticle"),
            ("ServiceGroups", "ServiceGroupArticle"), ("embed", "TutorialProgram"),
        ])
    func shown(article: String, file: String) throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = here.appendingPathComponent("../../../..").standardized
        let pages = ["embed": "Documentation/tutorials/embed.md"]
        let page = pages[article] ?? "Sources/IntertwineService/IntertwineService.docc/\(article).md"
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        let folder = file.contains("/") ? root.appendingPathComponent("Tests/Tools") : here
        let code = try String(contentsOf: folder.appendingPathComponent("\(file).swift"), encoding: .utf8)
        let marked = try #require(code.components(separatedBy: "// article: end\n").first)
        let lines = try #require(marked.components(separatedBy: "// article: \(article)\n").last)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
        #expect(lines != code && blocks == [lines])
    }

    @Test("The program in the Embedding article serves the feed")
    func embedding() async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
        let serving = Task {
            defer { continuation.finish() }
            try await serve(Array(sampleItems(users: 2).utf8), from: "\(folder)/items.sqlite") { continuation.yield($0) }
        }
        var starts = addresses.makeAsyncIterator()
        let port = try #require(await starts.next()?.split(separator: ":").last.flatMap { UInt16($0) })
        try await offPool {
            let client = try RawClient(port: port)
            try client.send("GET /feed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(try client.response().text.contains("user:1"))
        }
        serving.cancel()
        _ = await serving.result
    }

    @Test("The program in the tutorial serves the items of a file")
    func tutorial() async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = "\(folder)/items.sqlite"
        var configuration = ServiceConfiguration()
        configuration.store.database = database
        try configuration.importItems(Array(sampleItems(users: 2).utf8))

        let port = try freePort()
        let serving = Task { try await serve(database, port: Int(port)) }
        try await offPool {
            // The program does not report that it listens.
            var client = try? RawClient(port: port)
            for _ in 0..<3_000 where client == nil {
                usleep(10_000)
                client = try? RawClient(port: port)
            }
            let connected = try #require(client)
            try connected.send("GET /feed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(try connected.response().text.contains("user:1"))
        }
        serving.cancel()
        _ = await serving.result
    }

    @Test("The Codable kind of the article is validated and shown, and its action is performed")
    func kind() async throws {
        let item = #"{"kind":"card","id":"1","text":"Hello","picture":"https://example.com/p.png","size":"large"}"#
        try await TestService.run(items: item, extensions: cards) { service in
            let page = try await service.client.get("/feed", fields: ["X-Viewer-ID": "v"])
            for text in ["CardCell", "Hello", #""alt":"Hello""#, #""Save""#] { #expect(page.text.contains(text)) }
            #expect(try await service.client.post("/cells/card:1/bookmark", fields: ["X-Viewer-ID": "v"]).status == 200)
            let spam = try await service.operators.put("/admin/items/card/2", json: ["text": "spam", "size": "small"])
            #expect(spam.status == 422 && spam.text.contains("text: is advertising"))
        }
    }

    @Test("The input of the article's command is validated, and the command refuses")
    func input() async throws {
        let item = #"{"kind":"card","id":"1","text":"Hello","size":"small"}"#
        try await TestService.run(items: item, extensions: ratedCards { false }) { service in
            let viewer = ["X-Viewer-ID": "v"]
            let invalid = try await service.client.post("/cells/card:1/rate", fields: viewer, json: ["stars": 1])
            #expect(invalid.status == 422 && invalid.text.contains("/comment"))
            #expect(try await service.client.post("/cells/card:1/rate", fields: viewer, json: ["stars": 2]).status == 409)
        }
    }

    @Test("The placement of the article shows ads after the third item and at the end")
    func placement() async throws {
        struct Page: Decodable { let cells: [Cell] }
        struct Cell: Decodable { let id: String }
        let ad = #"{"kind":"ad","id":2,"contentUrl":"https://example.com/b.png","clickthroughUrl":"https://example.com/","type":"image"}"#
        try await TestService.run(items: sampleItems(users: 5) + "\n" + ad, extensions: placed) { service in
            let cells = try await service.client.get("/feed?limit=5").decoded(as: Page.self).cells
            #expect(cells.indices.filter { cells[$0].id.hasPrefix("ad:") } == [3, 6])
        }
    }

    /// A page with its first ad, and the token of its impression.
    private static func sold(_ service: TestService, _ path: String = "/feed?limit=5", viewer: String = "v") async throws -> (
        ad: String, token: String, next: String
    ) {
        let page = try await service.client.get(path, fields: ["X-Viewer-ID": viewer, "User-Agent": "tests"])
        let seen = try #require(page.text.firstMatch(of: /"cell":"(ad:[^"]+)","token":"([^"]+)"/), "\(page.text)")
        #expect(page["Cache-Control"]?.contains("private") == true)
        return (String(seen.1), String(seen.2), String(page.text.firstMatch(of: /"next":"([^"]+)"/)?.1 ?? ""))
    }

    @Test("The ad source of the article sells slots through an ad server, and has a fallback")
    func adSource() async throws {
        let answer = Mutex<String?>(#"{"decisions":{"slot0":{"creativeId":7}}}"#)
        let asked = Mutex<[String]>([])
        var server = ServiceExtensions()
        server.routes = [
            ServiceRoute(.post, "/decisions") { request, _ in
                var body: [UInt8] = []
                for try await part in request.body { body += part }
                asked.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
                // One that does not answer in time.
                guard let text = answer.withLock({ $0 }) else {
                    try await Task.sleep(for: .seconds(60))
                    return ServerResponse(status: .noContent)
                }
                return ServerResponse(fields: [.contentType: "application/json"], body: text)
            }
        ]
        let ads = [7, 8].map {
            #"{"kind":"ad","id":\#($0),"contentUrl":"https://example.com/a.png","clickthroughUrl":"https://example.com/","type":"image","house":false}"#
        }
        let items = ([sampleItems(users: 20)] + ads).joined(separator: "\n")
        try await TestService.run(.socket, extensions: server) { server in
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/decisions"))
            try await TestService.run(items: items, extensions: selling(through: url)) { service in
                // The first requests of a process load much, and a decision has two seconds.
                var warm = 0
                while warm < 30, try await Self.sold(service, viewer: "w\(warm)").ad != "ad:7" { warm += 1 }
                asked.withLock { $0 = [] }
                let first = try await Self.sold(service)
                #expect(first.ad == "ad:7" && asked.withLock { $0.count } == 1)
                let question = try #require(asked.withLock { $0.first })
                #expect(question.contains(#""user":{"key":"v"}"#) && question.contains("slot0") && !question.contains("slot1"))
                service.clock.advance(by: .seconds(1))
                let event = #"{"events":[{"type":"impression","cell":"ad:7","token":"\#(first.token)"}]}"#
                let seen = try await service.client.post(
                    "/events", fields: ["User-Agent": "tests", "X-Viewer-ID": "v", "Content-Type": "application/json"], body: event)
                #expect(seen.text.contains("counted"), "\(seen.text)")
                let report = try await service.operators.get("/admin/reports?by=campaign")
                #expect(report.text.contains(#""campaign":"kevel""#), "\(report.text)")
                // The next page is asked for too, and a slot that is not sold, or an ad that does not exist, leaves the slot to house ads.
                // In the same display period, the page has the same ads.
                for unsold in [#"{"decisions":{"slot0":null}}"#, #"{"decisions":{"slot0":{"creativeId":9}}}"#, "no JSON"] {
                    answer.withLock { $0 = unsold }
                    service.clock.advance(by: .seconds(300))
                    #expect(try await Self.sold(service, first.next).ad == "ad:1")
                    #expect(try await Self.sold(service, first.next).ad == "ad:1")
                }
                #expect(asked.withLock { $0.count } == 4)
                answer.withLock { $0 = #"{"decisions":{"slot0":{"creativeId":7}}}"# }
                for viewer in ["a", "b"] {
                    let sold = try await Self.sold(service, viewer: viewer)
                    service.clock.advance(by: .seconds(1))
                    let seen = try await service.client.post(
                        "/events", fields: ["User-Agent": "tests", "X-Viewer-ID": viewer, "Content-Type": "application/json"],
                        body: #"{"events":[{"type":"impression","cell":"ad:7","token":"\#(sold.token)"}]}"#)
                    #expect(seen.text.contains("counted"), "each viewer's impression counts: \(seen.text)")
                }
                let campaign = #"{"advertiser":"ACME","creatives":["7"]}"#
                let named = try await service.operators.put(
                    "/admin/items/campaign/kevel", fields: ["Content-Type": "application/json", "If-None-Match": "*"], body: campaign
                )
                #expect(named.status == 422 && named.text.contains("a source of ads has this name"), "\(named.text)")
            }
            answer.withLock { $0 = nil }
            try await TestService.run(items: items, extensions: selling(through: url, fallback: ["ad:8"])) { service in
                let sold = try await Self.sold(service)
                #expect(sold.ad == "ad:8")
            }
        }
    }

    @Test("The middleware of the article names the program, counts bytes and refuses writes")
    func middleware() async throws {
        let isOn = Mutex(false)
        let bytes = Mutex([String: Int]())
        let extensions = maintained(isOn: { isOn.withLock { $0 } }, count: { route, count in bytes.withLock { $0[route] = count } })
        try await TestService.run(.socket, items: sampleItems(users: 1), extensions: extensions) { service async throws in
            let viewer = ["X-Viewer-ID": "v"]
            for path in ["/feed", "/feed", "/lists/followed"] {
                #expect(try await service.client.get(path, fields: viewer)["server"] == "Recipes")
            }
            #expect(bytes.withLock { $0.count } == 1 && bytes.withLock { $0.values.first ?? 0 } > 0)
            isOn.withLock { $0 = true }
            #expect(try await service.client.post("/cells/user:0/selection", fields: viewer).status == 503)
        }
    }

    @Test("The group of the article runs the feed, and stops it")
    func serviceGroup() async throws {
        struct Waiting: Service {
            func run() async throws { try await gracefulShutdown() }
        }
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let port = try freePort()
        let group = try group([Waiting()], database: "\(folder)/items.sqlite", port: Int(port))
        let running = Task { try await group.run() }
        let health = try #require(URL(string: "http://127.0.0.1:\(port)/healthz"))
        while (try? await URLSession.shared.data(from: health)) == nil { try await Task.sleep(for: .milliseconds(20)) }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test("The custom cell of the article is on the page and accepts a selection")
    func cell() async throws {
        try await TestService.run(items: #"{"kind":"note","id":"1","text":"Buy leeks","type":"plain"}"#, extensions: notes) { service in
            let page = try await service.client.get("/feed")
            #expect(page.text.contains("NoteCollectionViewCell") && page.text.contains("Buy leeks"))
            #expect(try await service.client.post("/cells/note:1/selection").status == 200)
        }
    }

    @Test("The custom command of the article is performed and undone")
    func command() async throws {
        try await TestService.run(
            items: sampleItems(users: 1), settings: ["actions.user.selection": "follow"], extensions: following
        ) { service in
            let viewer = ["X-Viewer-ID": "v"]
            let answer = try await service.client.post("/cells/user:0/selection", fields: viewer)
            #expect(answer.status == 200 && answer.text.contains("follow"))
            struct Answer: Decodable { let undo: Undo }
            struct Undo: Decodable { let href: String }
            let undo = try answer.decoded(as: Answer.self).undo.href
            #expect(try await service.client.get("/lists/followed", fields: viewer).text.contains("user:0"))
            #expect(try await service.client.delete(undo, fields: viewer).status == 200)
            #expect(try await !service.client.get("/lists/followed", fields: viewer).text.contains("user:0"))
        }
    }

    @Test("The routes and the middleware of the article answer, and refuse requests without the token")
    func routes() async throws {
        try await TestService.run(items: sampleItems(users: 1), extensions: extensions(token: "secret")) { service in
            let name = try await service.client.get("/users/0/name")
            #expect(name.status == 200 && name.text.hasSuffix(" © Recipes Ltd"))
            let (unknown, order) = (try await service.client.get("/users/9/name"), try await service.client.get("/kitchen/orders/7"))
            #expect(unknown.status == 404 && order.status == 401)
            let allowed = try await service.client.get("/kitchen/orders/7", fields: ["Authorization": "Bearer secret"])
            #expect(allowed.status == 200 && allowed.text.contains(#""number":7"#))
        }
    }

    @Test("The custom data sources of the article are feeds with several pages")
    func dataSource() async throws {
        let all = (1...5).reversed().map { Announcements.Announcement(id: "a\($0)", text: "Number \($0)", published: Int64($0)) }
        let announcements = Announcements(
            fetch: { before, count in Array(all.filter { $0.published < before ?? .max }.prefix(count)) },
            find: { id in all.first { $0.id == id } }, changes: { 1 })
        let extensions = extensions(choosing: ["7", "2", "none", "5"], announcements)
        try await TestService.run(items: sampleItems(users: 9), extensions: extensions) { service in
            let newest = try await service.client.get("/feeds/announcements?limit=2")
            #expect(newest.text.contains("note:a5") && newest.text.contains("Number 4") && !newest.text.contains("note:a3"))
            let selection = try await service.client.post("/cells/note:a1/selection")
            #expect(selection.status == 200)
            let first = try await service.client.get("/feeds/chosen?limit=2")
            #expect(first.text.contains("user:7") && first.text.contains("user:2") && !first.text.contains("user:5"))
            let match = try #require(first.text.firstMatch(of: try Regex(#""next":"([^"]+)""#)))
            let second = try await service.client.get(String(try #require(match.output[1].substring)))
            #expect(second.text.contains("user:5") && !second.text.contains("user:7"))
        }
    }
}
