import Foundation
import TestSupport
import Testing

@Suite("Identity of ids and viewers from outside")
struct IdentityTests {
    private static let (composed, decomposed) = ("%C3%A9", "e%CC%81")
    private static let agent = "User-Agent: tests"

    private static func viewer(_ name: String) -> [String] { [agent, "X-Viewer-ID: \(name)"] }

    private static func ids(_ service: RunningService, _ path: String, _ fields: [String]) throws -> [[UInt8]] {
        try JSON(try service.get(path, fields: fields).text)["cells"]?.list.compactMap { $0["id"]?.text }.map { Array($0.utf8) } ?? []
    }

    private static func undo(_ answer: RawResponse) throws -> String {
        try #require(try JSON(answer.text)["undo"]?["href"]?.text)
    }

    @Test("Ids and viewers are compared by bytes, not by canonical equivalence")
    func bytes() async throws {
        try await offPool {
            let items = ["\u{E9}", "e\u{301}"].map { Items.user("x").replacing(#""id":"x""#, with: #""id":"\#($0)""#) }
            let service = try RunningService(items: items.joined(), settings: ["actions.user.selection=analytics,save"])
            let (one, other) = (Array("user:\u{E9}".utf8), Array("user:e\u{301}".utf8))
            let ann = Self.viewer("ann")
            #expect(try Self.ids(service, "/feed", ann) == [one, other])
            for id in [Self.composed, Self.decomposed] {
                #expect(try service.ask("POST", "/cells/user:\(id)/selection", fields: ann).status == 200)
            }
            #expect(try Self.ids(service, "/saved", ann) == [other, one])
            #expect(try service.ask("POST", "/cells/user:\(Self.composed)/dismissal", fields: ann).status == 200)
            #expect(try Self.ids(service, "/feed", ann) == [other])

            let (eve, twin) = (Self.viewer("\u{E9}"), Self.viewer("e\u{301}"))
            let undo = try Self.undo(try service.ask("POST", "/cells/user:\(Self.composed)/dismissal", fields: eve))
            #expect(try service.ask("DELETE", undo, fields: twin).status == 404)
            #expect(try service.ask("DELETE", undo, fields: eve).status == 200)
            #expect(try Self.ids(service, "/feed", eve).count == 2)
        }
    }

    @Test(
        "An id that begins with a combining character works like any other id",
        arguments: ["%CC%81a", "%F0%9F%8F%BB", "%E2%80%8D", "%EF%B8%8F#"])
    func combining(_ id: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("u"), settings: [RunningService.tokenSetting])
            let (id, text) = (id.replacing("#", with: "%23"), try #require(id.removingPercentEncoding))
            let body = Items.user("x").replacing(#""id":"x""#, with: #""id":"\#(text)""#)
            let ann = Self.viewer("ann")
            #expect(try service.admin("PUT", "/admin/items/user/\(id)", body: body).status == 201)
            #expect(try Self.ids(service, "/feed", ann) == [Array("user:u".utf8), Array("user:\(text)".utf8)])
            let undo = try Self.undo(try service.ask("POST", "/cells/user:\(id)/selection", fields: ann))
            #expect(try service.ask("DELETE", undo, fields: ann).status == 200)
            #expect(try service.ask("POST", "/cells/user:\(id)/dismissal", fields: ann).status == 200)
            #expect(try Self.ids(service, "/feed", ann).count == 1)
            #expect(try service.admin("GET", "/admin/items/user/\(id)").status == 200)
            #expect(try service.admin("PUT", "/admin/takedowns/user:\(id)").status < 300)
            #expect(try Self.ids(service, "/feed", []).count == 1)
            #expect(try service.admin("DELETE", "/admin/takedowns/user:\(id)").status < 300)
            #expect(try service.admin("PUT", "/admin/items/user/\(id)", body: body).status == 201)
            #expect(try Self.ids(service, "/feed", []).count == 2)
        }
    }

    @Test("Pages have each cell that a viewer did not dismiss, among thousands that are", arguments: CountTests.Store.allCases)
    func manyDismissed(store: CountTests.Store) async throws {
        try await offPool {
            let database = store == .postgresql ? try PostgresServer.shared().makeDatabase().uri : nil
            let service = try RunningService(items: Items.users(5_010), database: database)
            let ann = Self.viewer("ann")
            // Copies the row of one dismissal more often than the rate limit allows a client.
            #expect(try service.ask("POST", "/cells/user:u0/dismissal", fields: ann).status == 200)
            let copies = """
                INSERT INTO listing (viewer, list, cell, performance, at, until, leads, removes)
                WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5009)
                SELECT viewer, list, 'user:u' || n, 'p' || n, at, until, leads, removes FROM listing, number WHERE n < 3000 OR n % 50 <> 0
                """
            let isFile = service.database.hasSuffix(".sqlite")
            let ledger = service.database.replacing(".sqlite", with: ".ledger.sqlite")
            let rows = try SpawnedProcess(
                isFile
                    ? ["/usr/bin/sqlite3", "-cmd", ".timeout 5000", ledger, copies]
                    : ["/usr/bin/psql", "-X", "-q", service.database, "-c", copies])
            #expect(rows.wait() == 0)
            let left = stride(from: 3_000, to: 5_010, by: 50).map { "user:u\($0)" }
            for limit in [1, 7, 100] {
                func cells(_ page: JSON?) -> [String] { page?["cells"]?.list.compactMap { $0["id"]?.text } ?? [] }
                func walk(_ first: String?, _ link: String) throws -> [JSON] {
                    var (path, pages): (String?, [JSON]) = (first, [])
                    while let asked = path, pages.count < 60 {
                        pages.append(try JSON(try service.get(asked, fields: ann).text))
                        path = pages.last?["page"]?[link]?.text
                    }
                    return pages
                }
                let pages = try walk("/feed?limit=\(limit)", "next")
                #expect(pages.flatMap(cells) == left)
                #expect(pages.dropLast().allSatisfy { cells($0).count == limit } && pages.count == (left.count + limit - 1) / limit)
                let back = try walk(pages.last?["page"]?["previous"]?.text, "previous")
                #expect((back.reversed() + pages.suffix(1)).flatMap(cells) == left)
            }
            #expect(try Self.ids(service, "/feed?limit=10", Self.viewer("bob")).count == 10)
        }
    }

    @Test("A viewer id that is too long or not UTF-8 returns 400, except on clicks")
    func viewerThatIsNone() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("u") + Items.advertisements(1))
            let page = try JSON(try service.get("/feed").text)
            let click = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            for name in [[0x4A, 0xE9] as [UInt8], [UInt8](repeating: 0x76, count: 257)] {
                func status(_ method: String, _ path: String) throws -> Int {
                    let client = try RawClient(port: service.port)
                    let head = "\(method) \(path) HTTP/1.1\r\nHost: test\r\nUser-Agent: tests\r\nConnection: close\r\nX-Viewer-ID: "
                    try client.send(Array(head.utf8) + name + Array("\r\n\r\n".utf8))
                    return try client.response(to: method).status
                }
                #expect(try status("POST", "/cells/user:u/selection") == 400)
                #expect(try status("GET", "/saved") == 400)
                #expect(try status("GET", click) == 302)
            }
            let rows = try service.events()
            #expect(rows.count == 2 && rows.allSatisfy { $0["viewer"]?.isNull == true })
        }
    }

    @Test("The response of an idempotency key survives a rotation of the signing key")
    func rotation() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("u"))
            let (first, second) = (String(repeating: "ab", count: 32), String(repeating: "cd", count: 32))
            func restart(_ settings: String) throws {
                try settings.write(toFile: service.configurationFile, atomically: true, encoding: .utf8)
                try service.killAndRestart()
            }
            func select(_ cell: String = "u") throws -> RawResponse {
                try service.ask("POST", "/cells/user:\(cell)/selection", fields: Self.viewer("ann") + ["Idempotency-Key: k"])
            }
            try restart("signing:\n  key: \(first)\n")
            let before = try select()
            try restart("signing:\n  key: \(second)\n  previous-key: \(first)\n")
            let after = try select()
            #expect(before.status == 200 && after.status == 200 && before.body == after.body)
            #expect(try service.events().count == 1)
        }
    }

    @Test("An undo supports dryRun and idempotency keys, and events reject dryRun")
    func undo() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("u"))
            let ann = Self.viewer("ann")
            let undo = try Self.undo(try service.ask("POST", "/cells/user:u/dismissal", fields: ann))
            let simulated = try service.ask("DELETE", "\(undo)?dryRun=true", fields: ann)
            #expect(simulated.status == 200)
            #expect(try JSON(simulated.text)["commands"]?.list.compactMap { $0["outcome"]?.text } == ["simulated", "simulated"])
            #expect(try service.ask("DELETE", "\(undo)?dryRun=perhaps", fields: ann).status == 400)
            #expect(try Self.ids(service, "/feed", ann).isEmpty)
            let answers = try (0..<2).map { _ in try service.ask("DELETE", undo, fields: ann + ["Idempotency-Key: k"]) }
            #expect(answers.map(\.status) == [200, 200] && answers[0].body == answers[1].body)
            #expect(try service.ask("DELETE", undo, fields: ann + ["Idempotency-Key: other"]).status == 409)
            #expect(try service.ask("DELETE", "\(undo)?dryRun=true", fields: ann).status == 409)
            #expect(try service.ask("POST", "/events?dryRun=true", body: "[]").status == 400)
            #expect(try service.events().compactMap { $0["kind"]?.text } == ["dismissal", "undo"])
        }
    }
}
