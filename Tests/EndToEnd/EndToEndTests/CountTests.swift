import Foundation
import TestSupport
import Testing

@Suite("Counts of likes from outside", .timeLimit(.untilStuck))
struct CountTests {
    enum Store: CaseIterable { case files, postgresql }

    private static let kinds = """
        kinds:
          post:
            fields: {title: {type: text, required: true}}
            cells:
              collection:
                - {identifier: HotCell, size: 300x100, when: {counts.likes: {min: 3}}, bind: {title: {text: title}, likes: {number: counts.likes}}}
                - {identifier: PostCell, size: 300x100, bind: {title: {text: "{{title}}: {{counts.likes}}"}, likes: {number: counts.likes}}}
            actions:
              like: {list: liked, count: likes, label: Like}
        sections:
          posts: {kinds: [post], order: field counts.likes descending}
        feeds:
          main: [posts]
        """

    private static func post(_ id: String) -> String { #"{"kind":"post","id":"\#(id)","title":"Post \#(id)"}"# + "\n" }

    /// Services on one store, with three posts.
    private static func services(_ count: Int, _ store: Store) throws -> [RunningService] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID()).yaml").path
        try kinds.write(toFile: file, atomically: true, encoding: .utf8)
        let settings = [
            RunningService.tokenSetting, "kinds.file=\(file)", "log.requests=false", "limits.requests-per-connection=1000000000",
            "limits.writes-per-address=1000000",
        ]
        let database = store == .postgresql ? try PostgresServer.shared().makeDatabase().uri : nil
        let services = try (0..<count).map { _ in try RunningService(settings: settings, database: database) }
        let lines = try services[0].importItems(["a", "b", "c"].map(post).joined(), arguments: ["--set", "kinds.file=\(file)"])
        #expect(lines.contains("added 3, replaced 0, skipped 0"), "\(lines)")
        return services
    }

    private static func cells(_ service: RunningService, _ viewer: String? = nil) throws -> [JSON] {
        let fields = ["User-Agent: tests"] + (viewer.map { ["X-Viewer-ID: \($0)"] } ?? [])
        return try JSON(try service.get("/feed", fields: fields).text)["cells"]?.list ?? []
    }

    private static func likes(_ service: RunningService, _ viewer: String? = nil) throws -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: try cells(service, viewer).map {
                ($0["id"]?.text ?? "", $0["actions"]?["configuration"]?["bindings"]?["likes"]?["number"]?.number ?? -1)
            })
    }

    private static func like(_ service: RunningService, _ cell: String, _ viewer: String) throws -> JSON {
        let answer = try service.ask("POST", "/cells/\(cell)/like", fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"])
        try #require(answer.status == 200, "\(answer.text)")
        return try JSON(answer.text)
    }

    @Test("Item writes that wait for a lock delay neither pages nor likes", arguments: Store.allCases)
    func locked(store: Store) async throws {
        try await offPool {
            let service = try Self.services(1, store)[0]
            let holder = try StoreHolder(of: service, holding: .items)
            let writers = try (0..<6).map { number in
                let (client, body) = (try RawClient(port: service.adminPort), Self.post("new\(number)"))
                try client.send(
                    "PUT /admin/items/post/new\(number) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(RunningService.token)\r\n"
                        + "Content-Type: application/json\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                return client
            }
            let end = ContinuousClock.now + .seconds(3)
            var (number, slowest) = (0, Duration.zero)
            while ContinuousClock.now < end {
                let (start, viewer) = (ContinuousClock.now, "v\(number)")
                _ = try Self.like(service, "post:a", viewer)
                let cells = try Self.cells(service, viewer)
                #expect(cells.count == 3 && cells.first { $0["id"]?.text == "post:a" }?["state"]?["liked"] != nil)
                slowest = max(slowest, start.duration(to: .now))
                number += 1
            }
            #expect(slowest < .seconds(1), "\(number) likes")
            try holder.letGo()
            for client in writers { #expect([201, 503].contains(try client.response(to: "PUT").status)) }
            #expect(try service.admin("PUT", "/admin/items/post/last", body: Self.post("last")).status == 201)
            try poll { try Self.likes(service)["post:a"] == number }
        }
    }

    @Test("Likes are bound, order the feed, choose the cell, and follow undo, removal, erasure and takedown", arguments: Store.allCases)
    func whole(store: Store) async throws {
        try await offPool {
            let services = try Self.services(store == .postgresql ? 2 : 1, store)
            let (service, other) = (services[0], services[services.count - 1])
            #expect(try Self.likes(service) == ["post:a": 0, "post:b": 0, "post:c": 0])
            let first = try #require(try Self.cells(service).first { $0["id"]?.text == "post:a" })
            #expect(first["actions"]?["configuration"]?["bindings"]?["title"]?["text"]?.text == "Post a: 0")
            let undo = try #require(try Self.like(service, "post:b", "ann")["undo"]?["href"]?.text)
            for viewer in ["bob", "cid", "dan"] { _ = try Self.like(other, "post:b", viewer) }
            _ = try Self.like(service, "post:c", "ann")
            // A second like of one viewer counts once.
            _ = try Self.like(service, "post:c", "ann")
            for service in services {
                try poll { try Self.likes(service) == ["post:a": 0, "post:b": 4, "post:c": 1] }
                try poll { try Self.cells(service).map { $0["id"]?.text } == ["post:b", "post:c", "post:a"] }
            }
            let cells = try Self.cells(other, "ann")
            #expect(cells.map { $0["identifier"]?.text } == ["HotCell", "PostCell", "PostCell"])
            #expect(cells.map { $0["state"]?["liked"] != nil } == [true, true, false])
            let listed = try JSON(try service.get("/lists/liked", fields: ["User-Agent: tests", "X-Viewer-ID: ann"]).text)
            #expect(listed["cells"]?.list.map { $0["id"]?.text } == ["post:c", "post:b"])

            #expect(try service.ask("DELETE", undo, fields: ["User-Agent: tests", "X-Viewer-ID: ann"]).status == 200)
            try poll { try Self.likes(other)["post:b"] == 3 }
            let removal = try service.ask("DELETE", "/lists/liked/post:b", fields: ["User-Agent: tests", "X-Viewer-ID: bob"])
            #expect(removal.status == 200)
            try poll { try Self.likes(other)["post:b"] == 2 }
            #expect(try service.admin("DELETE", "/admin/viewers/cid").status == 200)
            try poll { try Self.likes(other)["post:b"] == 1 }

            // The item keeps its count when it is replaced, and its body has none.
            let item = try service.admin("GET", "/admin/items/post/b")
            #expect(!item.text.contains("counts"))
            let tag = try #require(item["etag"])
            #expect(try service.admin("PUT", "/admin/items/post/b", with: ["If-Match: \(tag)"], body: #"{"title":"New"}"#).status == 200)
            #expect(try Self.likes(service)["post:b"] == 1)
            #expect(try service.admin("PUT", "/admin/takedowns/post:b").status == 201)
            try poll { try Self.likes(other) == ["post:a": 0, "post:c": 1] }
            _ = try Self.like(service, "post:c", "eve")
            #expect(try service.admin("PUT", "/admin/items/post/b", body: #"{"title":"Back"}"#).status == 201)
            try poll { try Self.likes(other) == ["post:a": 0, "post:b": 1, "post:c": 2] }
        }
    }

    @Test("Live updates send counts", arguments: Store.allCases)
    func live(store: Store) async throws {
        try await offPool {
            let service = try Self.services(1, store)[0]
            let page = try JSON(try service.get("/feed?changes=true").text)
            let token = try #require(page["page"]?["syncToken"]?.text)
            let client = try RawClient(port: service.port)
            try client.send("GET /feed/changes?syncToken=\(token) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
            _ = try Self.like(service, "post:a", "ann")
            var text = ""
            let end = ContinuousClock.now + .seconds(20)
            while !text.contains(#""number":1"#), ContinuousClock.now < end, let bytes = try client.bytes(within: 1_000) {
                text += String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.contains(#""text":"Post a: 1""#) && text.contains(#""number":1"#))
        }
    }

    @Test("After kill -9 under load, each count is the number of answered likes, and equals the lists", arguments: Store.allCases)
    func killed(store: Store) async throws {
        try await offPool {
            let service = try Self.services(1, store)[0]
            var liked = 0
            for round in 0..<3 {
                let client = try RawClient(port: service.port)
                for number in 0..<150 {
                    let fields = ["User-Agent: tests", "X-Viewer-ID: v\(round)-\(number)"]
                    #expect(try RunningService.ask(client, "POST", "/cells/post:a/like", fields: fields).status == 200)
                    liked += 1
                }
                try service.killAndRestart()
                try poll { try Self.likes(service)["post:a"] == liked }
            }
        }
    }
}
