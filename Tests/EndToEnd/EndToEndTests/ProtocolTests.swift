import Foundation
import TestSupport
import Testing

@Suite("Client protocol from outside")
struct ProtocolTests {
    @Test("A single cell equals its cell on the page and ignores dismissals")
    func oneCell() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3) + Items.advertisement(1))
            let ann = ["X-Viewer-ID: ann"]
            let page = try JSON(try service.get("/feed?layout=table").text)
            let cell = try service.get("/cells/user:u1?layout=table")
            #expect(cell.status == 200 && cell["etag"] != nil)
            #expect(
                try JSON(cell.text)["identifier"]?.text == page["cells"]?.list.first { $0["id"]?.text == "user:u1" }?["identifier"]?.text)
            #expect(try service.get("/cells/ad:1").text.contains(#""alt":"Advertisement""#))
            let problem = try service.get("/cells/user:nobody")
            #expect(problem.status == 404 && problem.text.contains("unknown-cell"))
            // A dismissed cell is on no page, but has a resource.
            #expect(try service.ask("POST", "/cells/user:u1/dismissal", fields: ann).status == 200)
            #expect(try !service.get("/feed", fields: ann).text.contains("user:u1"))
            let own = try service.get("/cells/user:u1", fields: ann)
            #expect(own.status == 200 && own["cache-control"]?.contains("private") == true)
        }
    }

    @Test("Cells have the selected and saved state of their viewer until an undo")
    func state() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: ["actions.user.selection=analytics,save,present"])
            let (ann, bob) = (["X-Viewer-ID: ann"], ["X-Viewer-ID: bob"])
            func state(_ fields: [String], _ path: String = "/feed") throws -> [String?] {
                let items = try JSON(try service.get(path, fields: fields).text)["cells"]?.list ?? []
                return items.map { $0["state"]?.keys.sorted().joined(separator: " ") }
            }
            let tag = try service.get("/feed", fields: ann)["etag"]
            let selection = try JSON(try service.ask("POST", "/cells/user:u1/selection", fields: ann).text)
            #expect(try state(ann) == [nil, "saved selected", nil])
            #expect(try state(ann, "/saved") == ["saved selected"])
            #expect(try service.get("/feed", fields: ann)["etag"] != tag)
            #expect(try state(bob) == [nil, nil, nil] && state([]) == [nil, nil, nil])
            // A deselection without a selection is recorded, and the state stays.
            #expect(try service.ask("DELETE", "/cells/user:u1/selection", fields: bob).status == 200)
            #expect(try state(bob) == [nil, nil, nil])
            #expect(try service.ask("DELETE", "/cells/user:u1/selection", fields: ann).status == 200)
            #expect(try state(ann) == [nil, "saved", nil])
            let undo = try #require(selection["undo"]?["href"]?.text)
            #expect(try service.ask("DELETE", undo, fields: ann).status == 200)
            #expect(try state(ann) == [nil, nil, nil])
            // DNT: 1 prevents the selected state.
            #expect(try service.ask("POST", "/cells/user:u2/selection", fields: ann + ["DNT: 1"]).status == 200)
            #expect(try state(ann) == [nil, nil, "saved"])
        }
    }

    @Test("GET /feeds lists feeds with their sections, titles and layouts")
    func feeds() async throws {
        try await offPool {
            let plain = try RunningService(items: Items.users(1))
            let main = try JSON(try plain.get("/feeds").text)["feeds"]?[0]
            #expect(main?["name"]?.text == "main" && main?["path"]?.text == "/feed" && main?["sections"]?.list.isEmpty == true)
            #expect(main?["layouts"]?.list.compactMap(\.text) == ["collection", "table"])
            let kinds = "\(plain.folder)/kinds.yaml"
            try """
            sections: {main: {title: People}}
            feeds:
              main: [main]
              people: {title: All people, sections: [main]}
            """.write(toFile: kinds, atomically: true, encoding: .utf8)
            let service = try RunningService(
                items: Items.users(1), settings: ["kinds.file=\(kinds)", "server.public-url=https://feed.example/api"])
            let feeds = try JSON(try service.get("/feeds").text)["feeds"]
            #expect(feeds?.list.compactMap { $0["name"]?.text } == ["main", "people"])
            #expect(feeds?[0]?["title"]?.isNull == true && feeds?[1]?["title"]?.text == "All people")
            let section = feeds?[1]?["sections"]?[0]
            #expect(section?["title"]?.text == "People" && section?["path"]?.text == "/feeds/people/sections/main")
            #expect(section?["href"]?.text == "https://feed.example/api/feeds/people/sections/main")
        }
    }

    @Test("A body that is empty needs no type, and has any")
    func emptyBodies() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            for type in ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "application/octet-stream", "application/json"] {
                let fields = ["X-Viewer-ID: ann", "Content-Type: \(type)"]
                for (method, path) in [
                    ("POST", "/cells/user:u0/selection"), ("DELETE", "/cells/user:u0/selection"),
                    ("POST", "/cells/user:u0/dismissal"), ("DELETE", "/dismissed/user:u0"),
                ] {
                    let answer = try service.ask(method, path, fields: fields + ["Content-Length: 0"])
                    #expect([200, 202, 204].contains(answer.status), "\(method) \(path) \(type): \(answer.text)")
                    let foreign = ["Origin: https://evil.example.com", "Content-Length: 0"]
                    #expect(try service.ask(method, path, fields: fields + foreign).status == 403, "\(method) \(path) \(type)")
                }
                let isJSON = try service.ask("POST", "/events", fields: fields, body: "[]").status != 415
                #expect(isJSON == (type == "application/json"), "\(type)")
            }
        }
    }

    @Test("A POST of 16 sync tokens returns the same changes as a GET")
    func postedChanges() async throws {
        try await offPool {
            let items = (0..<330).map { _ in Items.user(UUID().uuidString) }.joined()
            let service = try RunningService(items: items + Items.advertisement(1))
            var held: [String] = []
            var path: String? = "/feed?changes=true"
            while let current = path, held.count < 16 {
                let page = try JSON(try service.get(current).text)["page"]
                held.append(try #require(page?["syncToken"]?.text))
                path = page?["next"]?.text
            }
            #expect(held.joined(separator: ",").utf8.count > 8_192)
            let body = #"{"syncTokens": ["\#(held.joined(separator: #"", ""#))"]}"#
            _ = try service.importItems(Items.user("late"))
            let answer = try service.ask("POST", "/feed/changes", body: body)
            #expect(answer.status == 200)
            #expect(try JSON(answer.text)["pages"]?.list.count == 16 && JSON(answer.text)["removed"]?.list.isEmpty == true)
            let one = try service.ask("POST", "/feed/changes", body: #"{"syncTokens": ["\#(held[0])"]}"#)
            #expect(try one.text == service.get("/feed/changes?syncToken=\(held[0])").text)
            #expect(try service.ask("POST", "/feed/changes", body: #"{"syncTokens": []}"#).status == 400)
            #expect(try service.ask("POST", "/feed/changes", body: #"["x"]"#).status == 400)
        }
    }

    @Test("Images have the alternative text of the item, or a default")
    func alternatives() async throws {
        try await offPool {
            let items =
                #"{"kind":"user","id":"a","username":"Ann","avatarUrl":"https://p.example/a.png","backgroundUrl":"https://p.example/b.png","avatarAlt":"Ann laughs","type":"regular"}"#
                + "\n" + Items.user("b")
                + #"{"kind":"ad","id":1,"contentUrl":"https://p.example/1.png","clickthroughUrl":"https://s.example","alt":"","type":"image"}"#
            let service = try RunningService(items: items)
            let cells = try JSON(try service.get("/feed").text)["cells"]?.list ?? []
            func alternatives(_ cell: JSON) -> [String: String] {
                let bindings = cell["actions"]?["configuration"]?["bindings"]
                return Dictionary(
                    uniqueKeysWithValues: (bindings?.keys ?? []).compactMap { key in (bindings?[key]?["alt"]?.text).map { (key, $0) } })
            }
            #expect(
                cells.map(alternatives) == [
                    ["avatar": "Ann laughs", "background": ""], ["content": ""], ["avatar": "User b", "background": ""],
                ])
        }
    }
}
