import Foundation
import TestSupport
import Testing

@Suite("Feeds with sections")
struct SectionsTests {
    private static let sections = """
        sections:
          stars: {title: Stars, kinds: [user], order: field username descending}
          clubs: {title: Clubs, kinds: [club]}
        feeds:
          people: [clubs, stars]
          agenda: [clubs]
          rest: [main]
        """
    private static let kinds = """
        kinds:
          club:
            fields: {name: {type: text, required: true}}
            cells: {collection: {identifier: ClubCell, size: 300x160, bind: {name: {text: name}}}}

        """

    /// Starts a service with this kinds file and users with these names.
    private func service(_ text: String, users: [String]) throws -> (RunningService, file: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID()).yaml").path
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return (try RunningService(items: users.map { Items.user($0) }.joined(), settings: ["kinds.file=\(file)"]), file)
    }

    private func ids(_ page: JSON) -> [String] { page["cells"]?.list.compactMap { $0["id"]?.text } ?? [] }

    @Test("Listed ad placement is refused for a section with ads and a field order")
    func listed() async throws {
        try await offPool {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID()).yaml").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            for (more, isRefused) in [("", true), (", placement: every 5", false), (", ads: 0", false)] {
                try (Self.kinds + Self.sections.replacing("descending}", with: "descending\(more)}"))
                    .write(toFile: file, atomically: true, encoding: .utf8)
                let settings = ["--set", "ads.placement=pinned", "--set", "kinds.file=\(file)"]
                let result = try Command.run(["check-config", "--config", "/dev/null"] + settings)
                #expect((result.code != 0) == isRefused, "\(result.lines)")
                #expect(result.lines.contains { $0.contains("ads.placement") && $0.contains("stars") } == isRefused, "\(result.lines)")
            }
        }
    }

    @Test("Feeds and sections are served by name; empty ones return 200 and unknown ones 404")
    func names() throws {
        let (service, file) = try service(Self.kinds + Self.sections, users: ["a", "b", "c"])
        defer { try? FileManager.default.removeItem(atPath: file) }
        let stars = ["section:stars", "user:c", "user:b", "user:a"]
        for _ in 0..<2 {
            for (path, expected, sections) in [
                ("/feeds/people", stars, ["stars"]), ("/feeds/people/sections/stars", stars, ["stars"]), ("/feeds/agenda", [], []),
                ("/feeds/people/sections/clubs", [], []), ("/feeds/rest", [], []),
            ] {
                let response = try service.get(path)
                let page = try JSON(response.text)
                #expect(response.status == 200 && ids(page) == expected, "\(path)")
                #expect(page["page"]?["sections"]?.list.compactMap(\.text) == sections)
                let tag = try #require(response["etag"])
                #expect(try service.get(path, fields: ["If-None-Match: \(tag)"]).status == 304)
                #expect(try service.ask("HEAD", path)["etag"] == tag)
            }
            // The users are in another section, and the default feed has no sections.
            for path in ["/feed", "/feeds/main"] {
                let response = try service.get(path)
                #expect(response.text == #"{"cells":[],"page":{"protocol":1,"limit":20,"next":null,"previous":null}}"#, "\(path)")
            }
            for (path, type) in [
                ("/feeds/nothing", "unknown-feed"), ("/feeds/nothing/sections/stars", "unknown-feed"), ("/feeds/stars", "unknown-feed"),
                ("/feeds/people/sections/nothing", "unknown-section"), ("/feeds/agenda/sections/stars", "unknown-section"),
                ("/feeds/main/sections/main", "unknown-section"), ("/feeds/%F0%9F%8E%88", "unknown-feed"),
            ] {
                let response = try service.get(path)
                #expect(response.status == 404 && response["content-type"] == "application/problem+json", "\(path)")
                #expect(try JSON(response.text)["type"]?.text == "/problems/\(type)")
            }
            for path in ["/feeds/", "/feeds/people/sections", "/feeds/people/stars"] {
                #expect(try service.get(path).status == 404, "\(path)")
            }
        }
        #expect(try service.ask("POST", "/cells/section:stars/selection").status == 404)
        // If an ad is the only item, only the default feed shows it.
        let ad = #"{"contentUrl":"http://a/","clickthroughUrl":"http://b/","type":"image"}"#
        #expect(try service.admin("PUT", "/admin/items/ad/7", body: ad).status == 201)
        for (path, expected) in [("/feed", ["ad:7"]), ("/feeds/agenda", []), ("/feeds/people/sections/clubs", [])] {
            #expect(ids(try JSON(try service.get(path).text)) == expected, "\(path)")
        }
    }

    @Test("A cursor is valid only in its feed, forward and backward")
    func cursors() throws {
        let (service, file) = try service(
            Self.kinds + Self.sections + "\n  main: [stars, main]\n", users: (0..<5).map { "u\($0)" })
        defer { try? FileManager.default.removeItem(atPath: file) }
        _ = try service.importItems(
            #"{"kind":"club","id":1,"name":"One"}"# + "\n" + #"{"kind":"club","id":2,"name":"Two"}"#,
            arguments: ["--set", "kinds.file=\(file)"])
        var pages = [try service.get("/feeds/people?limit=3")]
        while let next = try JSON(pages[pages.count - 1].text)["page"]?["next"]?.text {
            #expect(next.hasPrefix("/feeds/people?cursor="))
            pages.append(try service.get(next))
        }
        #expect(
            try pages.map { ids(try JSON($0.text)) } == [
                ["section:clubs", "club:1", "club:2", "section:stars", "user:u4"], ["user:u3", "user:u2", "user:u1"], ["user:u0"],
            ])
        let last = try JSON(pages[2].text)
        #expect(try service.get(try #require(last["page"]?["previous"]?.text)).text == pages[1].text)
        let query = try #require(try JSON(pages[0].text)["page"]?["next"]?.text?.split(separator: "?").last)
        for path in ["/feed", "/feeds/main", "/feeds/agenda", "/feeds/people/sections/stars"] {
            let response = try service.get("\(path)?\(query)")
            #expect(response.status == 400, "\(path)")
            #expect(try JSON(response.text)["detail"]?.text == "cursor belongs to another feed.")
        }
        // `/feed` and `/feeds/main` are one feed.
        let main = try #require(try JSON(try service.get("/feed?limit=2").text)["page"]?["next"]?.text)
        #expect(
            ids(try JSON(try service.get(main.replacing("/feed?", with: "/feeds/main?")).text)) == ids(try JSON(try service.get(main).text))
        )
    }

    @Test("An explanation describes the page of the same cursor and layout in each feed")
    func explained() throws {
        let kinds = """
            kinds:
              club:
                fields: {name: {type: text, required: true}}
                cells:
                  collection: {identifier: ClubCell, size: 300x160, bind: {name: {text: name}}}
                  table: {identifier: ClubRow, size: 300x40, bind: {name: {text: name}}}

            """
        let (service, file) = try service(kinds + Self.sections, users: ["a"])
        defer { try? FileManager.default.removeItem(atPath: file) }
        _ = try service.importItems(
            (1...3).map { #"{"kind":"club","id":\#($0),"name":"Club"}"# }.joined(separator: "\n"),
            arguments: ["--set", "kinds.file=\(file)"])
        for path in ["/feeds/people", "/feeds/agenda", "/feeds/people/sections/clubs"] {
            for (layout, identifier) in [("", "ClubCell"), ("&layout=table", "ClubRow")] {
                let next = try #require(try JSON(try service.get("\(path)?limit=1\(layout)").text)["page"]?["next"]?.text)
                let page = try JSON(try service.get(next).text)
                let explanation = try JSON(try service.admin("GET", "/admin/explain" + next.dropFirst(path.count)).text)
                #expect(explanation["cells"]?.list.compactMap { $0["cell"]?.text } == ids(page), "\(path)\(layout)")
                let identifiers = explanation["cells"]?.list.compactMap { $0["identifier"]?.text }
                #expect(identifiers == page["cells"]?.list.compactMap { $0["identifier"]?.text }, "\(path)\(layout)")
                #expect(identifiers?.contains(identifier) == true, "\(path)\(layout)")
                #expect(explanation["next"]?.text == page["page"]?["next"]?.text)
            }
        }
    }

    @Test("Items move to the new section of their kind at the next start")
    func moves() throws {
        let (service, file) = try service("feeds: {people: [main]}", users: ["a", "b"])
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(ids(try JSON(try service.get("/feed").text)) == ["user:a", "user:b"])
        #expect(ids(try JSON(try service.get("/feeds/people").text)) == ["user:a", "user:b"])
        try (Self.kinds + Self.sections).write(toFile: file, atomically: true, encoding: .utf8)
        #expect(ids(try JSON(try service.get("/feed").text)) == ["user:a", "user:b"])
        try service.killAndRestart()
        #expect(ids(try JSON(try service.get("/feed").text)).isEmpty)
        #expect(ids(try JSON(try service.get("/feeds/people").text)) == ["section:stars", "user:b", "user:a"])
        // An import needs no section.
        _ = try service.importItems(Items.user("c"))
        #expect(ids(try JSON(try service.get("/feeds/people").text)) == ["section:stars", "user:c", "user:b", "user:a"])
        try "feeds: {people: [main]}".write(toFile: file, atomically: true, encoding: .utf8)
        try service.killAndRestart()
        #expect(ids(try JSON(try service.get("/feed").text)) == ["user:a", "user:b", "user:c"])
    }
}
