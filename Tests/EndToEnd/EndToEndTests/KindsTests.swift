import Foundation
import TestSupport
import Testing

@Suite("Configured kinds from outside")
struct KindsTests {
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Config/kinds.yaml").path
    static let events =
        #"{"kind":"event","id":1,"title":"Swing","starts":"2026-05-01T19:00:00Z","image":"https://pictures.example.com/s.png","#
        + #""signup":"https://sign.example.com/1","city":"Berlin"}"# + "\n"
        + #"{"kind":"event","id":"b","title":"Jazz","starts":"2026-05-02","image":"https://pictures.example.com/j.png","#
        + #""signup":"https://sign.example.com/2"}"# + "\n"

    /// Starts a service with the kind, and imports its items on the command line.
    private func service() throws -> RunningService {
        let service = try RunningService(items: Items.user("u"), settings: ["kinds.file=\(Self.file)"])
        let lines = try service.importItems(Self.events, arguments: ["--set", "kinds.file=\(Self.file)"])
        #expect(lines.contains("added 2, replaced 0, skipped 0"), "\(lines)")
        return service
    }

    @Test("A kind in under 40 lines of YAML supports import, sections, layouts, clicks and dismissals")
    func event() async throws {
        try await offPool {
            #expect(try String(contentsOfFile: Self.file, encoding: .utf8).split(separator: "\n").count < 40)
            let service = try service()
            let answer = try JSON(try service.get("/feed").text)
            let page = answer["cells"]
            #expect(page?.list.compactMap { $0["id"]?.text } == ["section:events", "event:1", "event:b", "section:main", "user:u"])
            #expect(answer["page"]?["sections"]?.list.compactMap(\.text) == ["events", "main"])
            let cell = page?[1]
            #expect(cell?["identifier"]?.text == "EventCollectionViewCell")
            #expect([cell?["size"]?["width"]?.number, cell?["size"]?["height"]?.number] == [300, 160])
            let bindings = cell?["actions"]?["configuration"]?["bindings"]
            #expect(bindings?["title"]?["text"]?.text == "Swing in Berlin")
            #expect(bindings?["starts"]?["date"]?.text == "2026-05-01T19:00:00Z")
            #expect(bindings?["image"]?["href"]?.text?.hasPrefix("/images/") == true)
            #expect(bindings?["signup"]?["href"]?.text == "https://sign.example.com/1")
            let click = try #require(cell?["actions"]?["selection"]?["href"]?.text)
            let clicked = try service.get(click)
            #expect(clicked.status == 302 && clicked["location"] == "https://sign.example.com/1")

            let table = try JSON(try service.get("/feed?layout=table&width=390").text)["cells"]
            let header = "SectionHeaderTableViewHeaderFooterView"
            #expect(
                table?.list.compactMap { $0["identifier"]?.text } == [
                    header, "EventTableViewCell", "EventTableViewCell", header, "UserTableViewCell",
                ])
            #expect(table?.list.compactMap { $0["size"]?["width"]?.number } == [390, 390, 390, 390, 390])

            #expect(try service.ask("POST", "/cells/event:b/dismissal", fields: ["X-Viewer-ID: ann"]).status == 200)
            let hers = try JSON(try service.get("/feed", fields: ["X-Viewer-ID: ann"]).text)["cells"]
            #expect(hers?.list.compactMap { $0["id"]?.text } == ["section:events", "event:1", "section:main", "user:u"])
        }
    }

    @Test("Operators read, put and delete items of each kind, and unknown kinds return 404")
    func items() async throws {
        try await offPool {
            let service = try service()
            let read = try service.admin("GET", "/admin/items/event/1")
            #expect(try read.status == 200 && JSON(read.text)["title"]?.text == "Swing")
            let tag = try #require(read["etag"])
            let fields = #""starts":"2026-05-01","image":"https://p.example.com/s.png","signup":"https://sign.example.com/1"}"#
            let put = try service.admin("PUT", "/admin/items/event/1", with: ["If-Match: \(tag)"], body: #"{"title":"Blues","# + fields)
            #expect(put.status == 200 && put["etag"] != tag)
            #expect(try JSON(try service.admin("GET", "/admin/items/event/1").text)["title"]?.text == "Blues")
            let refused = try service.admin("PUT", "/admin/items/event/2", body: "{" + fields)
            #expect(try refused.status == 422 && JSON(refused.text)["detail"]?.text?.contains("title") == true)
            let made = try service.admin("PUT", "/admin/items/event/2", body: #"{"title":"Polka","# + fields)
            #expect(made.status == 201 && made["location"] == "/admin/items/event/2")
            #expect(try service.admin("DELETE", "/admin/items/event/2", with: ["If-Match: *"]).status == 204)
            #expect(try service.admin("GET", "/admin/items/event/2").status == 404)
            // Users are a kind like any other.
            #expect(try service.admin("GET", "/admin/items/user/u").text == service.admin("GET", "/admin/items/user/u").text)
            for method in ["GET", "PUT", "DELETE"] {
                let response = try service.admin(method, "/admin/items/dog/1", body: method == "PUT" ? "{}" : "")
                #expect(try response.status == 404 && JSON(response.text)["detail"]?.text == "There is no such kind of item.", "\(method)")
            }
        }
    }

    @Test("An import validates items against the kind, and the schema command prints its schema")
    func validation() async throws {
        try await offPool {
            let service = try service()
            try (Self.events.replacing("2026-05-01T19:00:00Z", with: "tomorrow")).write(
                toFile: "\(service.folder)/bad.ndjson", atomically: true, encoding: .utf8)
            let options = ["--config", "\(service.folder)/empty.yaml", "--database", service.database, "--set", "kinds.file=\(Self.file)"]
            let imported = try Command.run(["import", "--foreground"] + options + ["\(service.folder)/bad.ndjson"])
            #expect(imported.code != 0)
            let schema = try Command.run(["schema"] + options + ["event"])
            let document = try JSON(schema.lines.first ?? "")
            #expect(document["$schema"]?.text == "https://json-schema.org/draft/2020-12/schema")
            #expect(document["required"]?.list.compactMap(\.text) == ["kind", "id", "title", "starts", "image", "signup"])
        }
    }

    private static let places = """
        kinds:
          place:
            fields:
              title: {type: text, required: true, choices: [Park, Bar]}
              image: image
            cells:
              collection:
                - {identifier: PlaceCell, size: 300x200, bind: {title: {text: title}}}
                - identifier: PhotosCell
                  size: 300x90
                  companion: photos
                  when: {image: {present: true}}
                  bind: {image: {image: image}}
            actions:
              selection: [analytics]
              dismissal: [analytics, dismiss]
              like: [analytics, save]
              report:
                commands: [analytics]
                input:
                  reason: {type: text, required: true, choices: [spam, wrong], label: "Why?"}
                  stars: {type: number, min: 1, max: 5}
        """

    @Test("A kind can have custom action slots with input, and several cells per item")
    func slots() async throws {
        try await offPool {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("places-\(UUID()).yaml").path
            try Self.places.write(toFile: file, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: file) }
            let service = try RunningService(items: Items.user("u"), settings: ["kinds.file=\(file)"])
            let items =
                #"{"kind":"place","id":1,"title":"Park","image":"https://pictures.example.com/p.png"}"# + "\n"
                + #"{"kind":"place","id":2,"title":"Bar"}"# + "\n" + #"{"kind":"place","id":3,"title":"Pub"}"# + "\n"
            let lines = try service.importItems(items, arguments: ["--set", "kinds.file=\(file)", "--on-error", "skip"])
            #expect(lines.contains { $0.contains("added 2") }, "\(lines)")
            let ann = ["X-Viewer-ID: ann"]
            func cells() throws -> [JSON] { try JSON(try service.get("/feed?limit=3", fields: ann).text)["cells"]?.list ?? [] }
            #expect(try cells().compactMap { $0["id"]?.text } == ["user:u", "place:1", "place:1#photos", "place:2"])
            let actions = try #require(try cells()[2]["actions"])
            #expect(actions["like"]?["href"]?.text == "/cells/place:1%23photos/like")
            #expect(actions["report"]?["input"]?["required"]?.list.compactMap(\.text) == ["reason"])
            let properties = try #require(actions["report"]?["input"]?["properties"])
            #expect(properties["reason"]?["title"]?.text == "Why?" && properties["stars"]?["title"] == nil)

            let liked = try service.ask("POST", "/cells/place:1%23photos/like", fields: ann)
            #expect(
                try liked.status == 200 && JSON(liked.text)["commands"]?.list.compactMap { $0["command"]?.text } == ["analytics", "save"])
            #expect(
                try JSON(try service.get("/saved", fields: ann).text)["cells"]?.list.compactMap { $0["id"]?.text } == ["place:1#photos"])
            let undo = try #require(try JSON(liked.text)["undo"]?["href"]?.text)
            #expect(try service.ask("DELETE", undo, fields: ann).status == 200)
            #expect(try JSON(try service.get("/saved", fields: ann).text)["cells"]?.list.isEmpty == true)

            let report = "/cells/place:2/report"
            for (body, field) in [
                ("", "reason"), ("{}", "reason"), (#"{"reason":"other"}"#, "reason"), (#"{"reason":"spam","stars":6}"#, "stars"),
                (#"{"reason":"spam","more":1}"#, "more"),
            ] {
                let refused = try service.ask("POST", report, fields: ann, body: body)
                let problem = try JSON(refused.text)
                #expect(refused.status == 422 && problem["detail"]?.text?.hasPrefix("\(field): ") == true, "\(refused.text)")
                #expect(problem["type"]?.text == "/problems/invalid-body")
            }
            let counts = ann + ["User-Agent: tests"]
            #expect(try service.ask("POST", report, fields: counts, body: #"{"stars":5,"reason":"spam"}"#).status == 200)
            #expect(try service.events().last?["input"]?["reason"]?.text == "spam")
            #expect(try service.events().last?["input"]?["stars"]?.number == 5 && service.events().first?["input"]?.isNull == true)
            let counted = try Command.run([
                "report", "--by", "choice", "--then-by", "day", "--format", "csv", "--config", service.configurationFile, "--database",
                service.database,
            ]).lines.map { $0.trimmingCharacters(in: .newlines) }
            #expect(counted.first?.hasPrefix("choice,day,impressions,") == true && counted.first?.hasSuffix(",reports,ctr") == true)
            #expect(counted.count == 2 && counted[1].hasPrefix("reason=spam,") && counted[1].hasSuffix(",1,"), "\(counted)")
            for path in ["/cells/place:2/shout", "/cells/place:2/impression", "/cells/user:u/like", "/cells/place:2%23photos/like"] {
                #expect(try service.ask("POST", path, fields: ann).status == 404, "\(path)")
            }
            #expect(try service.ask("POST", "/cells/place:1%23photos/dismissal", fields: ann).status == 200)
            #expect(try cells().compactMap { $0["id"]?.text } == ["user:u", "place:1", "place:2"])
            #expect(try service.ask("POST", "/cells/place:1/dismissal", fields: ann).status == 200)
            #expect(try cells().compactMap { $0["id"]?.text } == ["user:u", "place:2"])
        }
    }

    @Test("An error in the kinds file stops the start with its file and line")
    func fault() async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let text = try String(contentsOfFile: Self.file, encoding: .utf8).replacing(
                "[analytics, clickthrough]", with: "[analytics, teleport]")
            try text.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
            try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
            let process = try SpawnedProcess([
                "/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1", BuiltProduct.path("intertwine"), "serve", "--config", "\(folder)/empty.yaml",
                "--database", "\(folder)/i.sqlite", "--port", "0", "--admin-port", "0", "--set", "kinds.file=\(folder)/kinds.yaml",
            ])
            while try process.nextLine(timeout: 60_000) != nil {}
            #expect(process.wait() != 0)
            let line =
                text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("teleport") }.map { $0 + 1 } ?? 0
            #expect(
                process.lines.contains { $0.contains("kinds.yaml:\(line):") && $0.contains("unknown command 'teleport'") },
                "\(process.lines)")
        }
    }

    @Test("Layout and width select different cached pages, and invalid values return 400")
    func parameters() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(5))
            for _ in 0..<2 {
                for (query, identifier, width) in [
                    ("limit=2", "CircularUserCollectionViewCell", 300), ("limit=2&layout=table", "CircularUserTableViewCell", 320),
                    ("limit=2&layout=table&width=500", "CircularUserTableViewCell", 500),
                    ("limit=2&layout=collection&width=500", "CircularUserCollectionViewCell", 400),
                ] {
                    let response = try service.get("/feed?\(query)")
                    let page = try JSON(response.text)
                    #expect(page["cells"]?[0]?["identifier"]?.text == identifier)
                    #expect(page["cells"]?[0]?["size"]?["width"]?.number == width)
                    let next = try #require(page["page"]?["next"]?.text)
                    #expect(next.contains("layout=table") == query.contains("layout=table"))
                    #expect(next.contains("width=500") == query.contains("width=500"))
                    #expect(
                        try JSON(try service.get(next).text)["cells"]?[0]?["identifier"]?.text?.hasPrefix("UserTable")
                            == query.contains("table"))
                }
            }
            for query in [
                "layout=grid", "layout=", "width=0", "width=10001", "width=-1", "width=1.5", "width=", "width=1&width=2",
                "layout=table&layout=table",
            ] {
                let response = try service.get("/feed?\(query)")
                #expect(response.status == 400 && response["content-type"] == "application/problem+json", "\(query)")
            }
        }
    }
}
