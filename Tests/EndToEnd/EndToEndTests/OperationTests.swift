import Foundation
import TestSupport
import Testing

@Suite("Operations on the store and their changes")
struct OperationTests {
    private static func apply(_ service: RunningService, _ operations: String...) throws -> RawResponse {
        try service.admin("POST", "/admin/operations", body: #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    }

    private static func user(_ id: String, _ type: String = "regular") -> String {
        Items.user(id, type).trimmingCharacters(in: .newlines)
    }

    private static func ids(_ service: RunningService, _ path: String = "/feed") throws -> [String] {
        try JSON(try service.get(path).text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
    }

    @Test("A list of operations is atomic, and the next page shows its result")
    func operations() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: [RunningService.tokenSetting])
            let done = try Self.apply(
                service, #"{"insert":\#(Self.user("n")),"before":"user:u1"}"#, #"{"move":"user:u0","after":"user:u2"}"#,
                #"{"append":\#(Items.advertisement(1))}"#, #"{"update":\#(Self.user("u1", "featured"))}"#, #"{"remove":"user:u2"}"#)
            #expect(done.status == 200)
            #expect(done.text == #"{"inserted":2,"moved":1,"removed":1,"updated":1}"#)
            #expect(try Self.ids(service) == ["user:n", "ad:1", "user:u1", "user:u0"])
            let refused = try Self.apply(service, #"{"clear":"main"}"#, #"{"remove":"user:gone"}"#)
            #expect(refused.status == 422)
            let problem = try JSON(refused.text)
            #expect(problem["type"]?.text == "/problems/invalid-operation")
            #expect(problem["detail"]?.text == "Nothing was done. Operation 1, counted from 0: user:gone does not exist.")
            #expect(problem["errors"]?[0]?["pointer"]?.text == "/operations/1" && problem["errors"]?[0]?["code"]?.text == "conflict")
            #expect(try Self.ids(service).count == 4)
            #expect(try Self.apply(service, #"{"clear":"main"}"#, #"{"clear":"advertisements"}"#).status == 200)
            #expect(try Self.ids(service).isEmpty)
            let written = try service.audited().filter { $0["method"]?.text != "import" }
            #expect(written.first?["items"]?.list.compactMap(\.text) == ["user:n", "user:u0", "ad:1", "user:u1", "user:u2"])
            #expect(written[1]["changes"] == nil)
            #expect(written.last?["changes"]?["removed"]?.number == 4)
            #expect(Set(written.last?["items"]?.list.compactMap(\.text) ?? []) == ["user:n", "user:u1", "user:u0", "ad:1"])
            #expect(written.compactMap { $0["status"]?.number } == [200, 422, 200])
            #expect(written.allSatisfy { $0["path"]?.text == "/admin/operations" })
        }
    }

    @Test("An operation with an outdated condition returns 412 and changes nothing")
    func condition() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2), settings: [RunningService.tokenSetting])
            let tag = try #require(try service.admin("GET", "/admin/items/user/u0")["etag"]).replacing("\"", with: "\\\"")
            let update = #"{"update":\#(Self.user("u0", "regular")),"ifMatch":"\#(tag)"}"#
            #expect(try Self.apply(service, update).status == 200)
            let again = try Self.apply(service, #"{"remove":"user:u1"}"#, update)
            #expect(again.status == 412)
            #expect(try JSON(again.text)["detail"]?.text?.contains("Operation 1,") == true)
            #expect(try Self.ids(service).count == 2)
        }
    }

    @Test("A client that applies the changes has the same pages as a new client")
    func changes() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(12) + Items.advertisements(2), settings: [RunningService.tokenSetting])
            var client = FeedClient()
            try client.load(service, "/feed?limit=4&changes=true", pages: 2)
            #expect(client.cells.count == 10)
            try client.follow(service)
            #expect(client.changes == 0)
            func apply(_ operations: String...) throws {
                let answer = try Self.apply(service, operations.joined(separator: ","))
                #expect(answer.status == 200)
            }
            let steps: [() throws -> Void] = [
                { try apply(#"{"insert":\#(Self.user("n")),"before":"user:u1"}"#, #"{"remove":"user:u3"}"#) },
                { try apply(#"{"move":"user:u6","before":"user:u0"}"#, #"{"update":\#(Self.user("u2", "featured"))}"#) },
                { _ = try service.importItems(Self.user("u1", "featured") + "\n" + Items.advertisement(7)) },
                {
                    try apply(#"{"clear":"advertisements"}"#)
                    try service.killAndRestart()
                },
                { try apply(#"{"clear":"main"}"#) }, { try apply(#"{"append":\#(Self.user("only"))}"#) },
            ]
            for step in steps {
                let held = client.syncTokens.count
                try step()
                try client.follow(service)
                #expect(client.changes > 0)
                var fresh = FeedClient()
                try fresh.load(service, "/feed?limit=4&changes=true", pages: held)
                #expect(client.cells == fresh.cells && client.syncTokens == fresh.syncTokens && client.next == fresh.next)
            }
            #expect(try service.get("/feed/changes").status == 400)
            #expect(try service.get("/feed/changes?syncToken=").status == 400)
            #expect(try service.get("/feed/changes?syncToken=a.b").status == 400)
            #expect(try service.get("/feed/changes?syncToken=AAAA,").text == #"{"reload":true}"#)
            let many = Array(repeating: client.syncToken, count: 17).joined(separator: ",")
            #expect(try service.get("/feed/changes?syncToken=\(many)").text == #"{"reload":true}"#)
        }
    }

    @Test("A changes request with a current ETag returns 304, and plain pages lack sync tokens")
    func quiet() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(5), settings: [RunningService.tokenSetting])
            let plain = try service.get("/feed").text
            #expect(!plain.contains("syncToken") && !plain.contains("changes"))
            let syncToken = try #require(try JSON(try service.get("/feed?changes=true").text)["page"]?["syncToken"]?.text)
            let first = try service.get("/feed/changes?syncToken=\(syncToken)")
            let tag = try #require(first["etag"])
            let fields = ["User-Agent: tests", "If-None-Match: \(tag)"]
            #expect(try service.get("/feed/changes?syncToken=\(syncToken)", fields: fields).status == 304)
            _ = try service.admin("POST", "/admin/operations", body: #"{"operations":[{"remove":"user:u1"}]}"#)
            #expect(try service.get("/feed/changes?syncToken=\(syncToken)", fields: fields).status == 200)
            #expect(try service.get("/feed").text != plain)
        }
    }
}
