import Foundation
import TestSupport
import Testing

@Suite("Routes of the console", .timeLimit(.untilStuck))
struct ConsoleTests {
    private static func service(_ isPostgreSQL: Bool) throws -> RunningService {
        try RunningService(
            items: Items.users(25), settings: [RunningService.tokenSetting],
            database: isPostgreSQL ? try PostgresServer.shared().makeDatabase().uri : nil)
    }

    private static func list(_ service: RunningService, _ query: String) throws -> [JSON] {
        var (items, href) = ([JSON](), Optional("/admin/items?\(query)"))
        while let path = href {
            let answer = try service.admin("GET", path)
            #expect(answer.status == 200, "\(answer.text)")
            let page = try JSON(answer.text)
            items += page["items"]?.list ?? []
            href = page["page"]?["next"]?.text
        }
        return items
    }

    private static func user(_ name: String) -> String {
        #"{"username":"\#(name)","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
    }

    @Test("Items are listed in pages, found, taken down and restored", arguments: [false, true])
    func items(isPostgreSQL: Bool) async throws {
        try await offPool {
            let service = try Self.service(isPostgreSQL)
            for query in ["limit=7", "limit=7&sort=-title", "limit=25&sort=changed", "limit=4&section=main", "q=u&kind=user&limit=10"] {
                let ids = try Self.list(service, query).compactMap { $0["id"]?.text }
                #expect(ids.count == 25 && Set(ids).count == 25, "\(query)")
            }
            let path = "/admin/items/user/u3"
            let tag = try #require(try service.admin("GET", path)["etag"])
            #expect(try service.admin("PUT", path, with: ["If-Match: \(tag)"], body: Self.user("Lantern Maker")).status == 200)
            let found = try Self.list(service, "q=lant")
            #expect(found.count == 1 && found.first?["item"]?.text == "user:u3" && found.first?["title"]?.text == "Lantern Maker")
            let changedTag = try service.admin("GET", path)["etag"]
            #expect(found.first?["entityTag"]?.text == changedTag)
            #expect(found.first?["picture"]?.text?.hasPrefix("/images/") == true)
            // The document before the change is a revision, with its author.
            let revisions = try JSON(try service.admin("GET", "\(path)/revisions").text)["revisions"]?.list ?? []
            #expect(revisions.count == 1 && revisions.first?["who"]?.text?.hasPrefix("token:") == true)
            let document = try service.admin("GET", "\(path)/revisions/1")
            #expect(document.status == 200)
            #expect(try JSON(document.text)["id"]?.text == "u3")
            #expect(try service.admin("GET", "\(path)/revisions/9").status == 404)
            #expect(try service.admin("PUT", "/admin/takedowns/user:u3", body: #"{"reason": "complaint 9"}"#).status == 201)
            let down = try Self.list(service, "state=taken-down")
            #expect(down.count == 1 && down.first?["reason"]?.text == "complaint 9")
            #expect(down.first?["title"]?.text == "Lantern Maker" && down.first?["takenDownBy"]?.text?.hasPrefix("token:") == true)
            #expect(try JSON(try service.admin("GET", "/admin/takedowns/user:u3").text)["reason"]?.text == "complaint 9")
            let kept = try service.admin("GET", "\(path)/revisions/2").text
            #expect(try service.admin("PUT", path, with: ["If-None-Match: *"], body: kept).status == 201)
            #expect(try Self.list(service, "state=taken-down").isEmpty)
            #expect(try service.admin("GET", "/admin/takedowns/user:u3").status == 404)
            #expect(try Self.list(service, "q=lant").first?["state"]?.text == "public")
            for query in ["kind=nothing", "state=nothing", "sort=nothing", "cursor=eA", "q=\(String(repeating: "a", count: 201))"] {
                #expect(try service.admin("GET", "/admin/items?\(query)").status == 400, "\(query)")
            }
            #expect(try Self.list(service, "q=%22%20OR%20*%27%3A").isEmpty)
            // The shortest of nine words does not count.
            let nine = "lantern maker lant mak lante make lanter ma x".split(separator: " ")
            #expect(try Self.list(service, "q=\(nine.joined(separator: "+"))").isEmpty == false)
            #expect(try Self.list(service, "q=\(nine.dropFirst().joined(separator: "+"))").isEmpty)
            for text in ["...", "%22", "%F0%9F%98%80", "%20", "kind", "pic", "state", "public"] {
                let answer = try service.admin("GET", "/admin/items?q=\(text)&limit=1")
                #expect(try JSON(answer.text)["total"]?.number == 0, "\(answer.text)")
            }
        }
    }

    @Test("The audit log is read from its end, filtered, in pages; the system names the operator")
    func audit() async throws {
        try await offPool {
            let service = try Self.service(false)
            for number in 0..<5 {
                #expect(try service.admin("PUT", "/admin/items/user/n\(number)", body: Self.user("N\(number)")).status == 201)
            }
            #expect(try service.admin("PUT", "/admin/takedowns/user:n1").status == 201)
            #expect(try service.admin("DELETE", "/admin/items/user/nobody").status == 404)
            var (entries, href) = ([JSON](), Optional("/admin/audit?who=token&limit=2"))
            while let path = href {
                let page = try JSON(try service.admin("GET", path).text)
                entries += page["entries"]?.list ?? []
                href = page["page"]?["next"]?.text
            }
            #expect(entries.count == 7 && entries[0]["outcome"]?.text?.hasPrefix("refused") == true)
            #expect(entries.dropFirst().allSatisfy { $0["outcome"]?.text == "done" })
            func found(_ query: String) throws -> [String] {
                try JSON(try service.admin("GET", "/admin/audit?\(query)").text)["entries"]?.list.compactMap { $0["path"]?.text } ?? []
            }
            #expect(try found("item=user:n1") == ["/admin/takedowns/user:n1", "/admin/items/user/n1"])
            #expect(try found("action=takedowns").count == 1)
            #expect(try found("from=2999-01-01").isEmpty && found("to=2000-01-01").isEmpty)
            let system = try JSON(try service.admin("GET", "/admin/system").text)
            #expect(system["who"]?.text?.hasPrefix("token:") == true && system["role"]?.text == "publish")
            let settings = system["settings"]?.list ?? []
            #expect(settings.count > 50 && settings.first { $0["key"]?.text == "admin.token" }?["value"]?.text == "(secret)")
        }
    }
}
