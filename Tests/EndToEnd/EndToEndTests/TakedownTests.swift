import Foundation
import TestSupport
import Testing

@Suite("Takedowns from outside")
struct TakedownTests {
    private static func run(_ arguments: [String], _ service: RunningService) throws -> (code: Int32, lines: [String]) {
        try Command.run(
            arguments + [
                "--config", service.configurationFile, "--database", service.database, "--set", "server.data-folder=\(service.folder)",
            ])
    }

    private static func shown(_ service: RunningService) throws -> [String] {
        try JSON(try service.get("/feed?limit=100").text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
    }

    @Test("A removed item is withheld from all imports until its release")
    func imports() async throws {
        try await offPool {
            let items = Items.users(3)
            let service = try RunningService(items: items, settings: [RunningService.tokenSetting])
            #expect(try service.admin("DELETE", "/admin/items/user/u1").status == 204)
            #expect(try Self.shown(service) == ["user:u0", "user:u2"])
            #expect(
                try service.importItems(items) == ["added 0, replaced 2, skipped 0, withheld 1 (user:u1): taken down"])
            #expect(
                try service.importItems(items, arguments: ["--dry-run"])
                    == ["would add 0, replace 2, skip 0, withheld 1 (user:u1): taken down; nothing was written"])
            let posted = try JSON(try service.admin("POST", "/admin/items", body: items).text)
            #expect(posted["withheld"]?.number == 1 && posted["withheldItems"]?[0]?.text == "user:u1" && posted["replaced"]?.number == 2)
            #expect(try Self.shown(service) == ["user:u0", "user:u2"])
            try service.killAndRestart()
            #expect(try service.importItems(items).first?.contains("withheld 1") == true)
            let listed = try Self.run(["takedown", "list"], service)
            #expect(listed.code == 0 && listed.lines.count == 1 && listed.lines[0].hasPrefix("user:u1\t20"), "\(listed.lines)")
            #expect(try Self.run(["takedown", "release", "user:u1"], service).lines == ["user:u1: released"])
            #expect(try service.importItems(items) == ["added 1, replaced 2, skipped 0"])
            #expect(try Self.shown(service) == ["user:u0", "user:u2", "user:u1"])
            #expect(try Self.run(["takedown"], service).lines == [])
        }
    }

    @Test("No process shows an item after its takedown, even from stale cached pages")
    func stalePages() async throws {
        try await offPool {
            let settings = [RunningService.tokenSetting, "feed.max-staleness=60s"]
            let service = try RunningService(items: Items.users(3), settings: settings)
            let services = [service, try RunningService(in: service.folder, database: service.database, settings: settings)]
            for service in services { #expect(try Self.shown(service).count == 3) }
            _ = try service.importItems(Items.user("u9"))
            #expect(
                try services.allSatisfy { try Self.shown($0) == ["user:u0", "user:u1", "user:u2"] }, "pages of a moment ago are served")
            #expect(try service.admin("PUT", "/admin/takedowns/user:u1").status == 201)
            let wanted = ["user:u0", "user:u2", "user:u9"]
            let end = ContinuousClock.now + .seconds(20)
            while try services.contains(where: { try Self.shown($0) != wanted }), .now < end { usleep(20_000) }
            #expect(try services.allSatisfy { try Self.shown($0) == wanted })
        }
    }

    @Test("A takedown removes the images of its item on all processes until the release")
    func images() async throws {
        try await offPool {
            let items = (0..<2).map { number in
                #"{"kind":"user","id":"p\#(number)","username":"P","avatarUrl":"http://pictures.sample.invalid/avatar-\#(number).png","#
                    + #""type":"regular"}"# + "\n"
            }.joined()
            let service = try RunningService(items: items, settings: [RunningService.tokenSetting])
            let services = [
                service, try RunningService(in: service.folder, database: service.database, settings: [RunningService.tokenSetting]),
            ]
            let paths = try (0..<2).map { number in
                String(try #require(try service.get("/cells/user:p\(number)").text.firstMatch(of: /\/images\/[^"]+/)).0)
            }
            func answers(_ number: Int) throws -> [Int] { try services.map { try $0.get(paths[number]).status } }
            func until(_ wanted: Int) throws {
                let end = ContinuousClock.now + .seconds(30)
                while try answers(0) != [wanted, wanted], .now < end { usleep(50_000) }
                #expect(try answers(0) == [wanted, wanted] && answers(1) == [200, 200])
            }
            try until(200)
            #expect(try service.admin("PUT", "/admin/takedowns/user:p0").status == 201)
            try until(410)
            #expect(try service.get(paths[0]).text.contains("taken-down"))
            #expect(try service.importItems(items).first?.contains("withheld 1") == true)
            try services[1].killAndRestart()
            try until(410)
            #expect(try service.admin("DELETE", "/admin/takedowns/user:p0").status == 204)
            #expect(try service.importItems(items) == ["added 1, replaced 1, skipped 0"])
            try until(200)
        }
    }

    @Test("The operators' API adds, lists and releases takedowns, with an audit entry for each")
    func routes() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisement(1), settings: [RunningService.tokenSetting])
            let made = try service.admin("PUT", "/admin/takedowns/ad:1", body: #"{"reason": "complaint"}"#)
            #expect(made.status == 201)
            #expect(try JSON(made.text)["reason"]?.text == "complaint")
            // A takedown of an unknown item is allowed, with any characters in its id.
            #expect(try service.admin("PUT", "/admin/takedowns/user:a%2Fb%20c").status == 201)
            #expect(try service.admin("PUT", "/admin/takedowns/user:a%2Fb%20c").status == 200)
            #expect(try Self.shown(service) == ["user:u0", "user:u1"])
            let listed = try JSON(try service.admin("GET", "/admin/takedowns?limit=1").text)
            #expect(listed["takedowns"]?.list.compactMap { $0["item"]?.text } == ["ad:1"])
            #expect(listed["page"]?["limit"]?.number == 1)
            let next = try #require(listed["page"]?["next"]?.text)
            #expect(next.hasPrefix("/admin/takedowns?cursor="))
            #expect(try service.admin("GET", "/admin/takedowns?limit=1")["link"] == "<\(next)>; rel=\"next\"")
            let rest = try service.admin("GET", next)
            #expect(try JSON(rest.text)["takedowns"]?.list.compactMap { $0["item"]?.text } == ["user:a/b c"])
            #expect(rest.text.contains(#""next":null"#) && rest["link"] == nil)
            for cursor in ["AQ.", "", "dQ", "gA"] {
                let refused = try service.admin("GET", "/admin/takedowns?cursor=\(cursor)")
                #expect(refused.status == 400 && refused.text.contains("invalid-cursor"), "\(cursor)")
            }
            #expect(try service.importItems(Items.user("a/b c") + Items.advertisement(1)).first?.contains("withheld 2") == true)
            #expect(try service.admin("DELETE", "/admin/takedowns/ad:1").status == 204)
            #expect(try service.admin("DELETE", "/admin/takedowns/ad:1").status == 404)
            #expect(try service.admin("PUT", "/admin/takedowns/u1").status == 400)
            #expect(try service.importItems(Items.advertisement(1)) == ["added 1, replaced 0, skipped 0"])
            // A PUT of the item by an operator releases its takedown.
            #expect(try service.admin("PUT", "/admin/items/user/a%2Fb%20c", body: Items.user("a/b c")).status == 201)
            #expect(try JSON(try service.admin("GET", "/admin/takedowns").text)["takedowns"]?.list.isEmpty == true)
            #expect(try service.audited().compactMap { $0["status"]?.number } == [201, 201, 200, 204, 404, 400, 201])
        }
    }

    @Test("The takedown list has one line per item and no control characters")
    func controls() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2), settings: [RunningService.tokenSetting])
            let reason = #"{"reason": "a\u0007b\u001b[2Jc\td\ne\u009bf\u202eg\u007fh é"}"#
            #expect(try service.admin("PUT", "/admin/takedowns/user:u1", body: reason).status == 201)
            let listed = try Self.run(["takedown", "list"], service)
            #expect(listed.code == 0 && listed.lines.count == 1, "\(listed.lines)")
            let fields = listed.lines[0].split(separator: "\t", omittingEmptySubsequences: false)
            #expect(fields.count == 3 && fields[0] == "user:u1" && fields[2] == "a?b?[2Jc?d?e?f?g?h é", "\(listed.lines)")
        }
    }

    @Test("Takedowns and releases are complete, even if the output pipe is closed")
    func unreadOutput() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            let keys = (0..<40).map { "user:u\($0)" }
            let options = [
                "--config", service.configurationFile, "--database", service.database, "--set", "server.data-folder=\(service.folder)",
            ]
            for (subject, left) in [("add", 40), ("release", 0)] {
                let process = try SpawnedProcess(
                    ["/bin/sh", "-c", "\"$0\" \"$@\" | true", BuiltProduct.path("intertwine"), "takedown", subject] + keys + options)
                while try process.nextLine() != nil {}
                #expect(process.wait() == 0)
                #expect(try Self.run(["takedown", "list"], service).lines.count == left)
            }
            #expect(try service.audited().suffix(2).map { $0["items"]?.list.count } == [40, 40])
        }
    }

    @Test("Invalid item names and missing stores fail with one line on the command line")
    func refusals() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            for (arguments, words) in [
                (["takedown", "add", "u0"], "'u0' is not the name of an item; write kind:id"),
                (["takedown", "release", "user:u0"], "is not taken down"),
                (["takedown", "add", "dog:rex"], "kinds are ad, campaign, user"),
            ] {
                let result = try Self.run(arguments, service)
                #expect(result.code == 1 && result.lines.count == 1 && result.lines[0].contains(words), "\(result.lines)")
            }
            #expect(
                try Self.run(["takedown", "add", "user:u0", "user:u9", "--reason", "spam"], service).lines
                    == ["user:u0: taken down", "user:u9: taken down; it was not in the store"])
            #expect(try Self.run(["takedown", "list"], service).lines.allSatisfy { $0.hasSuffix("\tspam") })
            #expect(try Self.run(["takedown", "release"], service).lines.contains { $0.contains("--all") })
            #expect(try Self.run(["takedown", "release", "--all"], service).lines == ["released 2"])
            #expect(try Self.run(["takedown"], service).lines == [])
            let audited = try service.audited().dropFirst()
            #expect(audited.map { $0["method"]?.text } == ["takedown", "takedown"])
            #expect(audited.map { $0["items"]?.list.compactMap(\.text) } == [["user:u0", "user:u9"], ["user:u0", "user:u9"]])
            #expect(audited.last?["changes"]?["released"]?.number == 2)
            let missing = try Command.run([
                "takedown", "list", "--config", service.configurationFile, "--database", "\(service.folder)/none.sqlite",
            ])
            #expect(missing.code == 1 && missing.lines.count == 1 && missing.lines[0].contains("there is no store"), "\(missing.lines)")
        }
    }
}
