import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Example program that embeds the service")
struct ExampleTests {
    @Test("The recipe example serves its kind of item, and performs and undoes its command")
    func recipes() async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let image = "https://food.example.com/ramen.png"
            let recipe = #"{"kind":"recipe","id":"ramen","title":"Ramen","pictureUrl":"\#(image)","type":"quick"}"#
            try (recipe + "\n" + Items.user("a")).write(toFile: "\(folder)/recipes.ndjson", atomically: true, encoding: .utf8)
            let process = try SpawnedProcess([
                BuiltProduct.path("recipe-feed"), "--database", "\(folder)/recipes.sqlite", "--port", "0", "\(folder)/recipes.ndjson",
            ])
            defer { process.signal(SIGKILL) }
            let line = try process.line(containing: "listening on")
            let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
            func ask(_ method: String, _ path: String) throws -> RawResponse {
                try RunningService.ask(
                    try RawClient(port: port), method, path, fields: ["User-Agent: tests", "X-Viewer-ID: cook", "Connection: close"])
            }
            let page = try JSON(try ask("GET", "/feed").text)
            #expect(page["cells"]?.list.compactMap { $0["id"]?.text } == ["recipe:ramen", "user:a"])
            #expect(page["cells"]?[0]?["identifier"]?.text == "RecipeCollectionViewCell")
            let answer = try JSON(try ask("POST", "/cells/recipe:ramen/selection").text)
            #expect(answer["commands"]?.list.compactMap { $0["command"]?.text } == ["analytics", "cook"])
            #expect(try ask("GET", "/lists/cooked").text.contains("recipe:ramen"))
            #expect(try ask("DELETE", try #require(answer["undo"]?["href"]?.text)).status == 200)
            #expect(try !ask("GET", "/lists/cooked").text.contains("recipe:ramen"))
            // The example adds a route, and middleware for all routes and cached pages.
            #expect(try ask("GET", "/recipes/tan%20tan/shopping-list").text == "All for tan tan.\n")
            for path in ["/recipes/ramen/shopping-list", "/feed", "/feed"] {
                #expect(try ask("GET", path)["server"] == "recipe-feed", "\(path)")
                #expect(try RunningService.ask(try RawClient(port: port), "GET", path)["server"] == "recipe-feed", "\(path), of everyone")
                #expect(try RunningService.ask(try RawClient(port: port), "GET", path, fields: ["User-Agent: Robot"]).status == 403)
            }
            #expect(!process.lines.contains { $0.contains("admin") })
        }
    }

    /// Runs an example program until the end of `body`, which receives its port.
    private func run(
        _ program: String, _ arguments: (_ folder: String) -> [String],
        _ body: (_ process: SpawnedProcess, _ ask: (String, String, [String], String) throws -> RawResponse) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = try SpawnedProcess([BuiltProduct.path(program)] + arguments(folder))
        defer { process.signal(SIGKILL) }
        let line = try process.line(containing: "listening on")
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        try body(process) { method, path, fields, body in
            try RunningService.ask(
                try RawClient(port: port), method, path, fields: ["X-Viewer-ID: guest", "Connection: close"] + fields, body: body)
        }
    }

    @Test("The news example serves sections of an HTTP API, performs actions on them, and shows a new article")
    func news() async throws {
        try await offPool {
            let hasNews = Mutex(false)
            let api = try Origin { request, connection in
                func article(_ id: String, _ position: Int) -> String {
                    #"{"id":"\#(id)","position":\#(position),"title":"Title \#(id)"}"#
                }
                let newest = hasNews.withLock { $0 }
                let all = ["world": ["w1", "w2"] + (newest ? ["w3"] : []), "sport": ["s1"]]
                let path = URLComponents(string: request.path)
                func query(_ name: String) -> String? { path?.queryItems?.first { $0.name == name }?.value }
                let body: String?
                switch path?.path {
                case "/version": body = newest ? "2" : "1"
                case "/articles":
                    let listed = (all[query("section") ?? ""] ?? []).enumerated().filter { $0.offset > Int(query("after") ?? "-1") ?? -1 }
                    body = "[" + listed.map { article($0.element, $0.offset) }.joined(separator: ",") + "]"
                case let path?:
                    let id = path.split(separator: "/").last.map(String.init) ?? ""
                    body = all.values.joined().contains(id) ? article(id, 0) : nil
                case nil: body = nil
                }
                connection.answer(body == nil ? 404 : 200, ["Content-Type: application/json"], body: Array((body ?? "").utf8))
            }
            defer { api.stop() }
            try run("news-feed") {
                ["--database", "\($0)/news.sqlite", "--port", "0", "--interval", "0.05", api.url("")]
            } _: { _, ask in
                func cells() throws -> [String] {
                    try JSON(ask("GET", "/feed", [], "").text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
                }
                #expect(try cells() == ["section:world", "article:w1", "article:w2", "section:sport", "article:s1"])
                let answer = try JSON(try ask("POST", "/cells/article:s1/bookmark", [], "").text)
                #expect(try ask("GET", "/saved", [], "").text.contains("Title s1"))
                #expect(try ask("DELETE", try #require(answer["undo"]?["href"]?.text), [], "").status == 200)
                hasNews.withLock { $0 = true }
                let limit = ContinuousClock.now + .seconds(20)
                while try !cells().contains("article:w3"), ContinuousClock.now < limit { usleep(20_000) }
                #expect(try cells().contains("article:w3"))
            }
        }
    }
}
