import Foundation
import TestSupport
import Testing

@Suite("Followed and muted authors from outside", .timeLimit(.untilStuck))
struct AuthorTests {
    private static let kinds = """
        kinds:
          post:
            author: authorId
            fields: {title: {type: text, required: true}, authorId: {type: text, required: true}}
            cells: {collection: {identifier: PostCell, size: 300x100, bind: {title: {text: title}}}}
            actions: {dismissal: [dismiss], follow: [follow], silence: [mute], keep: [save], leave: [unfollow], hear: [unmute], drop: [unsave], show: [restore]}
        feeds:
          main: [main]
          home: {sections: [main], source: following, ads: 1, placement: at 1}
        """

    private static let ann = ["User-Agent: tests", "X-Viewer-ID: ann"]

    private static func service(_ store: CountTests.Store, kinds: String = kinds, more: [String] = []) throws -> RunningService {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID()).yaml").path
        try kinds.write(toFile: file, atomically: true, encoding: .utf8)
        let database = store == .postgresql ? try PostgresServer.shared().makeDatabase().uri : nil
        let service = try RunningService(settings: ["kinds.file=\(file)"], database: database)
        let posts = [("a", "user:ada"), ("b", "user:ada"), ("c", "user:bob")].map { id, author in
            #"{"kind":"post","id":"\#(id)","title":"Post \#(id)","authorId":"\#(author)"}"# + "\n"
        }
        let items = Items.user("ada") + Items.user("bob") + posts.joined() + more.joined()
        let added = "added \(5 + more.count), replaced 0, skipped 0"
        #expect(try service.importItems(items, arguments: ["--set", "kinds.file=\(file)"]).contains(added))
        return service
    }

    private static func cells(_ service: RunningService, _ path: String = "/feed") throws -> [String: JSON] {
        let list = try JSON(try service.get(path, fields: ann).text)["cells"]?.list ?? []
        return Dictionary(uniqueKeysWithValues: list.map { ($0["id"]?.text ?? "", $0) })
    }

    private static func act(_ service: RunningService, _ path: String) throws -> String {
        let answer = try service.ask("POST", "/cells/\(path)", fields: ann)
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(try JSON(answer.text)["undo"]?["href"]?.text)
    }

    @Test("A follow is of the author, and the state of all of the author's cells", arguments: CountTests.Store.allCases)
    func follow(store: CountTests.Store) async throws {
        try await offPool {
            let service = try Self.service(store)
            let undo = try Self.act(service, "post:a/follow")
            #expect(Set(try Self.cells(service, "/following").keys) == ["user:ada"])
            let following = try Self.cells(service).filter { $0.value["state"]?["following"] != nil }
            #expect(Set(following.keys) == ["post:a", "post:b", "user:ada"])
            #expect(try service.ask("DELETE", undo, fields: Self.ann).status == 200)
            #expect(try Self.cells(service, "/following").isEmpty)
            _ = try Self.act(service, "post:b/follow")
            #expect(try service.ask("DELETE", "/following/user:ada", fields: Self.ann).status == 200)
            #expect(try Self.cells(service).allSatisfy { $0.value["state"] == nil })
            #expect(try service.ask("POST", "/cells/post:a/follow").status == 403)
        }
    }

    @Test("A slot removes what another one has added, on any cell of the author", arguments: CountTests.Store.allCases)
    func removals(store: CountTests.Store) async throws {
        try await offPool {
            let service = try Self.service(store)
            for (list, added, removed, cell) in [
                ("/following", "post:a/follow", "post:b/leave", "user:ada"), ("/muted", "post:a/silence", "post:b/hear", "user:ada"),
                ("/saved", "post:a/keep", "post:a/drop", "post:a"), ("/dismissed", "post:a/dismissal", "post:a/show", "post:a"),
            ] {
                _ = try Self.act(service, added)
                let undo = try Self.act(service, removed)
                #expect(try Self.cells(service, list).isEmpty, "\(list)")
                #expect(try service.ask("DELETE", undo, fields: Self.ann).status == 200)
                #expect(Set(try Self.cells(service, list).keys) == [cell], "\(list)")
                #expect(try service.ask("DELETE", "\(list)/\(cell)", fields: Self.ann).status == 200)
                #expect(try Self.cells(service, list).isEmpty, "\(list)")
            }
        }
    }

    @Test("A muted author is left out of feeds, lists and changes of that viewer, until it is undone", arguments: CountTests.Store.allCases)
    func mute(store: CountTests.Store) async throws {
        try await offPool {
            let service = try Self.service(store)
            let all: Set = ["post:a", "post:b", "post:c", "user:ada", "user:bob"]
            for id in ["a", "c"] { _ = try Self.act(service, "post:\(id)/keep") }
            #expect(Set(try Self.cells(service).keys) == all)
            let token = try #require(
                try JSON(try service.get("/feed?changes=true", fields: Self.ann).text)["page"]?["syncToken"]?.text)
            let undo = try Self.act(service, "post:c/silence")
            #expect(Set(try Self.cells(service).keys) == ["post:a", "post:b", "user:ada"])
            #expect(Set(try Self.cells(service, "/saved").keys) == ["post:a"])
            #expect(Set(try Self.cells(service, "/muted").keys) == ["user:bob"])
            let changes = try service.get("/feed/changes?syncToken=\(token)", fields: Self.ann).text
            #expect(try Set(JSON(changes)["deleted"]?.list.compactMap { $0["id"]?.text ?? $0.text } ?? []).isSubset(of: all), "\(changes)")
            let others = try JSON(try service.get("/feed").text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
            #expect(Set(others) == all)
            #expect(try service.ask("DELETE", undo, fields: Self.ann).status == 200)
            #expect(Set(try Self.cells(service).keys) == all)
            _ = try Self.act(service, "post:c/silence")
            #expect(try service.ask("DELETE", "/muted/user:bob", fields: Self.ann).status == 200)
            #expect(Set(try Self.cells(service).keys) == all)
        }
    }

    @Test("A feed has the items of followed authors, the newest first, for that viewer alone", arguments: CountTests.Store.allCases)
    func home(store: CountTests.Store) async throws {
        try await offPool {
            let service = try Self.service(store)
            _ = try service.importItems(Items.advertisement(1))
            func shown(_ fields: [String] = Self.ann) throws -> [String] {
                let answer = try service.get("/feeds/home", fields: fields)
                #expect(answer.status == 200 && answer["cache-control"]?.hasPrefix("private") == true)
                let page = try JSON(answer.text)
                #expect(page["page"]?["next"]?.isNull ?? true)
                return page["cells"]?.list.compactMap { $0["id"]?.text } ?? []
            }
            #expect(try shown() == [] && shown(["User-Agent: tests"]) == [])
            _ = try Self.act(service, "post:a/follow")
            #expect(try shown() == ["post:b", "ad:1", "post:a"])
            #expect(try shown(["User-Agent: tests", "X-Viewer-ID: bob"]) == [])
            let token = try #require(
                try JSON(try service.get("/feeds/home?changes=true", fields: Self.ann).text)["page"]?["syncToken"]?.text)
            _ = try Self.act(service, "post:c/follow")
            #expect(try shown().filter { $0 != "ad:1" } == ["post:c", "post:b", "post:a"])
            let changes = try JSON(try service.get("/feeds/home/changes?syncToken=\(token)", fields: Self.ann).text)
            #expect(changes["inserted"]?.list.compactMap { $0["cell"]?["id"]?.text }.contains("post:c") == true, "\(changes)")
            _ = try Self.act(service, "post:a/silence")
            #expect(try shown().filter { $0 != "ad:1" } == ["post:c"])
        }
    }

    @Test(
        "A feed of followed authors with filters, of a section that a field orders, is listed with counts",
        arguments: CountTests.Store.allCases)
    func filters(store: CountTests.Store) async throws {
        try await offPool {
            let kinds = Self.kinds.replacing("required: true}}", with: "required: true}, tags: tags}")
                .replacing("feeds:\n", with: "sections:\n  posts: {kinds: [post], order: field title}\nfeeds:\n")
                .replacing("[main]", with: "[posts, main]").replacing("placement: at 1}", with: "placement: at 1, filters: [tags]}")
            let posts = [("d", "user:ada", #"["red","blue"]"#), ("e", "user:bob", #"["red"]"#)].map { id, author, tags in
                #"{"kind":"post","id":"\#(id)","title":"\#(id)","authorId":"\#(author)","tags":\#(tags)}"# + "\n"
            }
            let service = try Self.service(store, kinds: kinds, more: posts)
            _ = try Self.act(service, "post:a/follow")
            let listed = try service.get("/feeds")
            let home = try JSON(listed.text)["feeds"]?.list.first { $0["name"]?.text == "home" }
            #expect(listed.status == 200 && home?["filters"]?.list.first?["values"]?.list.count == 2, "\(listed.text)")
            let page = try JSON(try service.get("/feeds/home?tags=red", fields: Self.ann).text)
            #expect(page["cells"]?.list.compactMap { $0["id"]?.text } == ["post:d"])
            #expect(try service.get("/feeds/home?tags=green", fields: Self.ann).status == 200)
        }
    }
}
