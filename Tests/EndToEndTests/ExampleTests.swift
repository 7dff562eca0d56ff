import Foundation
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
            #expect(try ask("DELETE", try #require(answer["undo"]?["href"]?.text)).status == 200)
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
}
