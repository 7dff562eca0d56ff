import Foundation
import TestSupport
import Testing

@Suite("Clients with limited capabilities, from outside")
struct CapabilityTests {
    private static let kinds = """
        kinds:
          story:
            fields: {title: {type: text, required: true}}
            cells:
              collection:
                - {identifier: StoryCell, version: 2, size: 300x200, bind: {title: {text: title}}}
                - {identifier: StoryCell, size: 300x100, bind: {title: {text: title}}}
                - {identifier: PlainCell, size: 300x50, bind: {title: {text: title}}}
                - {identifier: PhotosCell, companion: photos, when: {title: {present: true}}, size: 300x50, bind: {title: {text: title}}}
            actions: {dismissal: [analytics, dismiss]}
        """

    private static func service(users: Int = 3, stories: Int = 1) throws -> RunningService {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-kinds-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try kinds.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
        let service = try RunningService(settings: ["kinds.file=\(folder)/kinds.yaml", RunningService.tokenSetting])
        let stories = (0..<stories).map { #"{"kind":"story","id":"s\#($0)","title":"Story"}"# + "\n" }.joined()
        _ = try service.importItems(
            stories + Items.users(users) + Items.advertisement(1), arguments: ["--set", "kinds.file=\(folder)/kinds.yaml"])
        return service
    }

    private func identifiers(_ response: RawResponse) throws -> [String] {
        try JSON(response.text)["cells"]?.list.compactMap { $0["identifier"]?.text } ?? []
    }

    @Test("A client gets the first supported cell of each chain; other items are reported omitted")
    func chain() async throws {
        try await offPool {
            let service = try Self.service()
            func page(_ cells: String, _ path: String = "/feed") throws -> RawResponse {
                try service.get(path, fields: ["Accept-Cells: \(cells)"])
            }
            let all = try service.get("/feed")
            #expect(all["vary"]?.contains("Accept-Cells") == true && !all.text.contains("omitted"))
            // A client that supports every cell gets the default page byte for byte.
            #expect(try page("StoryCell;v=2, *").text == all.text)
            #expect(try page("StoryCell;v=2, *;q=0").text.contains(#""identifier":"StoryCell","version":2"#))
            #expect(try identifiers(try page("StoryCell, PlainCell")) == ["StoryCell"])
            #expect(try identifiers(try page("PlainCell")) == ["PlainCell"])
            let users = try page("UserSnapshotCollectionViewCell, CircularUserCollectionViewCell;v=2, *;q=0")
            #expect(try identifiers(users).count == 3)
            let omitted = try JSON(users.text)["page"]?["omitted"]?.list ?? []
            #expect(omitted.compactMap { $0["kind"]?.text }.sorted() == ["ad", "story"])
            #expect(omitted.allSatisfy { $0["count"]?.number == 1 && $0["reason"]?.text == "unknown-cell" })
            // A repeated request gets the same page, and never a page for other capabilities.
            #expect(try page("UserSnapshotCollectionViewCell, CircularUserCollectionViewCell, *;q=0").text == users.text)
            #expect(try service.get("/feed").text == all.text)
            #expect(try page("A B").status == 400)
            // A list without members is an absent one (RFC 9651 section 3.1).
            #expect(try page("").text == all.text && page("  ").text == all.text)
            let unshown = try page("PlainCell", "/cells/user:u0")
            #expect(unshown.status == 404 && unshown.text.contains("unshown-cell") && unshown.text.contains("the client supports none of"))
            #expect(try page("PlainCell", "/cells/user:nobody").text.contains("unknown-cell"))
            let own = try service.get("/feed", fields: ["Accept-Cells: PlainCell", "X-Viewer-ID: ann"])
            #expect(try identifiers(own) == ["PlainCell"])
            let explained = try service.admin("GET", "/admin/explain", with: ["Accept-Cells: PlainCell"])
            #expect(explained.text.contains("the client supports none of"))
            let metrics = try service.admin("GET", "/metrics").text
            #expect(metrics.contains(#"intertwine_feed_unsupported_cells_total{identifier="StoryCell"}"#))
        }
    }

    private static func register(_ cells: String, at service: RunningService) throws -> String {
        let answer = try service.ask("PUT", "/clients/tests", body: #"{"cells": "\#(cells)"}"#)
        return try JSON(answer.text)["digest"]?.text ?? ""
    }

    @Test("A registered client has a digest in its links that is valid after a restart")
    func registered() async throws {
        try await offPool {
            let service = try Self.service(users: 30)
            let body = #"{"cells": "PlainCell, CircularUserCollectionViewCell"}"#
            let registered = try service.ask("PUT", "/clients/ios-4.2", body: body)
            #expect(registered.status == 200)
            let digest = try #require(try JSON(registered.text)["digest"]?.text)
            #expect(try JSON(try service.ask("PUT", "/clients/other", body: body).text)["digest"]?.text == digest)
            let page = try service.get("/feed?limit=5&client=\(digest)")
            #expect(Set(try identifiers(page)) == ["PlainCell", "CircularUserCollectionViewCell"])
            #expect(try service.get("/feed?limit=5&client=\(digest)").text == page.text)
            // The URL contains the digest, so responses do not vary by the field.
            #expect(page["vary"]?.contains("Accept-Cells") == false)
            #expect(try service.get("/cells/user:u0?client=\(digest)")["vary"]?.contains("Accept-Cells") == false)
            let next = try #require(try JSON(page.text)["page"]?["next"]?.text)
            #expect(next.contains("client=\(digest)"))
            #expect(Set(try identifiers(try service.get(next))) == ["CircularUserCollectionViewCell"])
            try service.killAndRestart()
            #expect(try service.get("/feed?limit=5&client=\(digest)").status == 200)
            let unknown = try service.get("/feed?client=AAAAAAAAAAAAAAAA")
            #expect(unknown.status == 400 && unknown.text.contains("unknown-client"))
            #expect(try service.ask("PUT", "/clients/x", body: #"{"cells": 5}"#).status == 400)
            #expect(try service.ask("PUT", "/clients/1x", body: body).status == 400)
        }
    }

    @Test("Omitted items report the whole cell chain, and ads report only empty ad slots")
    func toldOmissions() async throws {
        try await offPool {
            let service = try Self.service(users: 1, stories: 1)
            _ = try service.importItems((2...9).map { Items.advertisement($0) }.joined())
            let page = try service.get(
                "/feed", fields: ["Accept-Cells: PhotosCell, UserSnapshotCollectionViewCell, CircularUserCollectionViewCell"])
            let omitted = try JSON(page.text)["page"]?["omitted"]?.list ?? []
            let counts = Dictionary(uniqueKeysWithValues: omitted.map { ($0["kind"]?.text ?? "", $0["count"]?.number ?? 0) })
            #expect(counts == ["story": 1, "ad": 1])
            #expect(omitted.first { $0["kind"]?.text == "story" }?["identifiers"]?.list.compactMap(\.text) == ["StoryCell", "PlainCell"])
        }
    }

    @Test("A page skips a bounded number of unsupported items, and the next page continues there")
    func bounded() async throws {
        try await offPool {
            let service = try Self.service(users: 5_000, stories: 0)
            _ = try service.importItems(Items.user("last", "featured"))
            var path: String? = "/feed?limit=100"
            var (pages, found) = (0, 0)
            while let current = path, pages < 100 {
                let page = try JSON(try service.get(current, fields: ["Accept-Cells: UserSnapshotCollectionViewCell;v=3, Other"]).text)
                found += page["cells"]?.list.count ?? 0
                pages += 1
                path = page["page"]?["next"]?.text
            }
            #expect(found == 3_750 && path == nil)
            let none = try JSON(try service.get("/feed", fields: ["Accept-Cells: Other"]).text)["page"]
            let passed = none?["omitted"]?.list.filter { $0["kind"]?.text == "user" }.compactMap { $0["count"]?.number }.reduce(0, +) ?? 0
            #expect((2_000..<2_300).contains(passed) && none?["next"]?.text != nil)
        }
    }

    @Test("Viewer lists report their omitted items on each page")
    func lists() async throws {
        try await offPool {
            let service = try Self.service(users: 3, stories: 2)
            let ann = ["X-Viewer-ID: ann"]
            // The latest entry is first.
            for cell in ["user:u0", "story:s0", "user:u1", "story:s1", "user:u2"] {
                #expect(try service.ask("POST", "/cells/\(cell)/dismissal", fields: ann).status == 200, "\(cell)")
            }
            func page(_ path: String, _ cells: String) throws -> JSON {
                try JSON(try service.get(path, fields: ann + ["Accept-Cells: \(cells)"]).text)
            }
            let users = "UserSnapshotCollectionViewCell, CircularUserCollectionViewCell, *;q=0"
            let first = try page("/dismissed?limit=2", users)
            #expect(first["cells"]?.list.compactMap { $0["id"]?.text } == ["user:u2", "user:u1"])
            let omitted = try #require(first["page"]?["omitted"]?.list)
            #expect(omitted.count == 1 && omitted[0]["kind"]?.text == "story" && omitted[0]["count"]?.number == 1)
            #expect(omitted[0]["identifiers"]?.list.compactMap(\.text) == ["StoryCell", "PlainCell"])
            let second = try page(try #require(first["page"]?["next"]?.text), users)
            #expect(second["cells"]?.list.compactMap { $0["id"]?.text } == ["user:u0"])
            #expect(second["page"]?["omitted"]?.list.compactMap { $0["count"]?.number } == [1])
            #expect(try page("/dismissed", "*")["page"]?["omitted"] == nil)
        }
    }

    @Test("An erased viewer's name and data are absent from the store and the ledger")
    func erased() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(1),
                settings: [RunningService.tokenSetting, "actions.user.selection=analytics,save,present"])
            let (ann, bob) = (["X-Viewer-ID: ann/1"], ["X-Viewer-ID: bob"])
            for (fields, browser) in [(ann, ["User-Agent: Mozilla/5.0 ann-s-browser"]), (bob, ["User-Agent: Mozilla/5.0 Firefox"])] {
                let ad = try #require(
                    try JSON(service.get("/feed", fields: fields).text)["cells"]?.list.first { $0["id"]?.text?.hasPrefix("ad:") == true })
                #expect(try service.get(try #require(ad["actions"]?["selection"]?["href"]?.text), fields: fields + browser).status == 302)
                #expect(try service.ask("POST", "/cells/user:u1/selection", fields: fields + ["Idempotency-Key: k"]).status == 200)
                #expect(try service.ask("POST", "/cells/user:u2/dismissal", fields: fields).status == 200)
            }
            let erased = try JSON(try service.admin("DELETE", "/admin/viewers/ann%2F1").text)
            let audit = try String(contentsOfFile: "\(service.folder)/audit.log", encoding: .utf8)
            #expect(audit.contains("/admin/viewers/{id}") && !audit.contains("ann"))
            if !RunningService.usesPostgreSQL {
                for file in ["", "-wal"].map({ "\(service.folder)/intertwine.ledger.sqlite\($0)" }) {
                    let data = try Data(contentsOf: URL(fileURLWithPath: file))
                    #expect(["ann/1", "ann-s-browser"].allSatisfy { data.firstRange(of: Data($0.utf8)) == nil }, "\(file)")
                }
            }
            #expect(erased["listed"]?.number == 3 && erased["idempotencyKeys"]?.number == 1 && (erased["events"]?.number ?? 0) >= 2)
            #expect(try service.get("/feed", fields: ann).text.contains("user:u2"))
            #expect(try !service.get("/feed", fields: bob).text.contains("user:u2"))
            #expect(try service.events().allSatisfy { $0["viewer"]?.text != "ann/1" })
            #expect(try service.events().contains { $0["viewer"]?.text == "bob" })
            // Keys of duplicates and rate limits contain no viewer name.
            let keys = try SpawnedProcess([
                "/usr/bin/sqlite3", "-cmd", ".timeout 5000", "\(service.folder)/intertwine.ledger.sqlite",
                "SELECT hex(key) FROM allowance UNION ALL SELECT hex(entries) FROM recent_allowance WHERE entries <> x''",
            ])
            while try keys.nextLine(timeout: 30_000) != nil {}
            #expect(keys.wait() == 0 && keys.lines.contains { !$0.isEmpty })
            let names = ["ann/1", "bob"].map { Data($0.utf8).map { String(format: "%02X", $0) }.joined() }
            #expect(keys.lines.allSatisfy { key in !names.contains { key.contains($0) } }, "\(keys.lines)")
            #expect(try JSON(try service.admin("DELETE", "/admin/viewers/ann%2F1").text)["events"]?.number == 0)
        }
    }
}
