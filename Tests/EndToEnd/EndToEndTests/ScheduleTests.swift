import Foundation
import TestSupport
import Testing

@Suite("Scheduled items from outside", .timeLimit(.untilStuck))
struct ScheduleTests {
    private static func user(_ id: String, _ schedule: String = "") -> String {
        #"{"kind":"user","id":"\#(id)","username":"\#(id)","avatarUrl":"http://pictures.sample.invalid/avatar-\#(id).png","type":"regular"\#(schedule)}"#
            + "\n"
    }

    private static func time(in seconds: Double) -> String {
        Date(timeIntervalSinceNow: seconds).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func shown(_ service: RunningService, _ path: String = "/feed?limit=100") throws -> [String] {
        try JSON(try service.get(path).text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
    }

    private static func pictures(of cell: String, _ service: RunningService) throws -> String {
        String(try #require(try service.get("/cells/\(cell)").text.firstMatch(of: /\/images\/[^"]+/)).0)
    }

    @Test("Items become public and expire by the clock, in all processes, also with caches, and while no process runs")
    func clock() async throws {
        try await offPool {
            let clock = try MovableClock()
            let items =
                Self.user("0") + Self.user("1", #","publishAt":"\#(Self.time(in: 3_600))","expireAt":"\#(Self.time(in: 7_200))""#)
                + Self.user("2") + Self.user("3", #","expireAt":"\#(Self.time(in: 3_600))""#) + Self.user("4", #","draft":true"#)
            let settings = [RunningService.tokenSetting, "feed.max-staleness=600s", "feed.max-age=60s"]
            let service = try RunningService(items: items, settings: settings, environment: clock.environment)
            let services = [
                service,
                try RunningService(in: service.folder, database: service.database, settings: settings, environment: clock.environment),
            ]
            func all(_ wanted: [String]) throws {
                try poll { try services.allSatisfy { try Self.shown($0) == wanted } }
                for service in services {
                    for id in 0..<5 {
                        #expect(try service.get("/cells/user:\(id)").status == (wanted.contains("user:\(id)") ? 200 : 404), "\(id)")
                    }
                }
            }
            try all(["user:0", "user:2", "user:3"])
            #expect(try service.get("/feed")["cache-control"] == "public, max-age=60")
            let picture = try Self.pictures(of: "user:3", service)
            try poll { try services.allSatisfy { try $0.get(picture).status == 200 } }
            #expect(try service.get("/cells/user:4/selection").status >= 400)
            #expect(try service.ask("POST", "/cells/user:4/selection", fields: ["User-Agent: tests", "X-Viewer-ID: v"]).status == 404)
            // Caches may not keep a page until the change.
            clock.offset = 3_550
            for service in services {
                for path in ["/feed?limit=100", "/cells/user:3"] {
                    #expect(try service.get(path)["cache-control"] == "no-cache", "\(path)")
                }
            }
            clock.offset = 3_601
            try all(["user:0", "user:1", "user:2"])
            try poll { try services.allSatisfy { try $0.get(picture).status == 404 } }
            let stored = try service.admin("GET", "/admin/items/user/3")
            #expect(stored.status == 200 && stored.text.contains(#""expireAt":""#))
            services[1].stop()
            try service.killAndRestart()
            #expect(try Self.shown(service) == ["user:0", "user:1", "user:2"])
            service.stop()
            clock.offset = 7_201
            try service.killAndRestart()
            #expect(try Self.shown(service) == ["user:0", "user:2"])
            #expect(try service.get(picture).status == 404)
        }
    }

    @Test(
        "A write of a schedule takes effect in its response, on a page of stale caches and on pictures, unless another item has the picture"
    )
    func writes() async throws {
        try await offPool {
            let shared = Self.user("2").replacing("avatar-2", with: "avatar-1")
            let service = try RunningService(
                items: Self.user("0") + Self.user("1") + shared, settings: [RunningService.tokenSetting, "feed.max-staleness=600s"])
            #expect(try Self.shown(service).count == 3)
            let pictures = try (0..<2).map { try Self.pictures(of: "user:\($0)", service) }
            for picture in pictures { try poll { try service.get(picture).status == 200 } }
            for id in 0..<2 {
                let answer = try service.admin(
                    "PUT", "/admin/items/user/\(id)", with: ["If-Match: *"], body: Self.user("\(id)", #","draft":true"#))
                #expect(answer.status == 200 && answer.text.contains(#""draft":true"#), "\(answer.text)")
                #expect(try service.get("/cells/user:\(id)").status == 404)
            }
            try poll { try Self.shown(service) == ["user:2"] }
            try poll { try service.get(pictures[0]).status == 404 }
            #expect(try service.get(pictures[1]).status == 200, "another item shows it")
            // An import that says nothing of it ends the schedule, in the old position.
            #expect(try service.importItems(Self.user("0") + Self.user("1")) == ["added 0, replaced 2, skipped 0"])
            try poll { try Self.shown(service) == ["user:0", "user:1", "user:2"] }
            try poll { try service.get(pictures[0]).status == 200 }
            let operations = #"{"operations":[{"update":\#(Self.user("1", #","publishAt":"2999-01-01T00:00:00Z""#))}]}"#
            let applied = try service.admin("POST", "/admin/operations", body: operations)
            #expect(applied.status == 200, "\(applied.text)")
            #expect(try service.get("/cells/user:1").status == 404)
            for (fields, field) in [
                (#","publishAt":"tomorrow""#, "publishAt"), (#","draft":"yes""#, "draft"), (#","expireAt":"2026-01-01""#, "expireAt"),
                (#","publishAt":"2030-01-01T00:00:00Z","expireAt":"2029-01-01T00:00:00Z""#, "expireAt"),
            ] {
                let refused = try service.admin("PUT", "/admin/items/user/new", body: Self.user("new", fields))
                #expect(refused.status == 422 && refused.text.contains(field), "\(fields): \(refused.text)")
            }
        }
    }

    @Test("Replicas on PostgreSQL follow the moments within a second, in pages, changes and live updates")
    func replicas() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let start = Date()
            let items =
                Self.user("0", #","publishAt":"\#(Self.time(in: 6))","expireAt":"\#(Self.time(in: 9))""#) + Self.user("1")
                + Self.user("2", #","expireAt":"\#(Self.time(in: 6))""#) + Self.user("3", #","draft":true"#)
            let services = try Replicas.start(2, of: database, items: items)
            for service in services { #expect(try Self.shown(service) == ["user:1", "user:2"]) }
            let token = try #require(try Replicas.page(services[1], "/feed?changes=true")["page"]?["syncToken"]?.text)
            for (moment, wanted) in [(6.0, ["user:0", "user:1"]), (9, ["user:1"])] {
                for service in services { try poll { try Self.shown(service) == wanted } }
                #expect(Date().timeIntervalSince(start) > moment - 0.1 && Date().timeIntervalSince(start) < moment + 1, "\(moment)")
                let changes = try JSON(try services[1].get("/feed/changes?syncToken=\(token)").text)
                let inserted = changes["inserted"]?.list.compactMap { $0["cell"]?["id"]?.text }
                #expect(inserted == (moment == 6 ? ["user:0"] : []) && changes["removed"]?[0]?["id"]?.text == "user:2", "\(changes)")
            }
            for service in services {
                for id in [0, 2, 3] { #expect(try service.get("/cells/user:\(id)").status == 404) }
            }
        }
    }

    @Test("Operators preview a feed as of a moment, with drafts and for a viewer, which counts nothing", arguments: [false, true])
    func preview(isPostgreSQL: Bool) async throws {
        try await offPool {
            let items =
                Self.user("0") + Self.user("1", #","publishAt":"2997-01-01T00:00:00Z","expireAt":"2998-01-01T00:00:00Z""#)
                + Self.user("2", #","draft":true,"publishAt":"2997-06-01T00:00:00Z""#) + Self.user("3") + Items.advertisement(1)
            let service = try RunningService(
                items: items, settings: [RunningService.tokenSetting],
                database: isPostgreSQL ? PostgresServer.shared().makeDatabase().uri : nil)
            func preview(_ query: String, _ limit: Int = 100) throws -> [String] {
                let page = try service.admin("GET", "/admin/preview/feeds/main?limit=\(limit)\(query)")
                #expect(page.status == 200 && page["cache-control"] == "no-store", "\(page.text)")
                return try JSON(page.text)["cells"]?.list.compactMap { $0["id"]?.text }.filter { $0.hasPrefix("user") } ?? []
            }
            #expect(try preview("") == ["user:0", "user:3"])
            #expect(try preview("&at=2997-03-01T00:00:00Z") == ["user:0", "user:1", "user:3"])
            #expect(try preview("&at=2997-07-01T00:00:00%2B02:00&drafts=true") == ["user:0", "user:1", "user:2", "user:3"])
            #expect(try preview("&at=2999-01-01T00:00:00Z&drafts=true") == ["user:0", "user:2", "user:3"])
            let viewer = ["User-Agent: tests", "X-Viewer-ID: v é"]
            #expect(try service.ask("POST", "/cells/user:0/dismissal", fields: viewer).status == 200)
            #expect(try preview("&viewer=v%20%C3%A9") == ["user:3"])
            // The next page is a preview too.
            var path: String? = "/admin/preview/feeds/main?limit=1&drafts=true&at=2997-07-01T00:00:00Z&viewer=v%20%C3%A9"
            var seen: [String] = []
            var token: String?
            while let asked = path {
                let page = try JSON(try service.admin("GET", asked).text)
                seen += page["cells"]?.list.compactMap { $0["id"]?.text }.filter { $0.hasPrefix("user") } ?? []
                token =
                    token
                    ?? page["cells"]?.list.lazy.compactMap { $0["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text }.first
                path = page["page"]?["next"]?.text
            }
            #expect(seen == ["user:1", "user:2", "user:3"])
            let count = try service.events().count
            let impression = #"{"events":[{"type":"impression","cell":"ad:1","token":"\#(try #require(token))"}]}"#
            _ = try service.ask("POST", "/events", fields: ["User-Agent: tests", "Content-Type: application/json"], body: impression)
            #expect(try service.events().count { $0["verdict"]?.text == "counted" && $0["kind"]?.text == "impression" } == 0)
            #expect(try service.events().count >= count)
            #expect(try service.admin("GET", "/admin/preview/feeds/main?at=soon").status == 400)
            #expect(try service.admin("GET", "/admin/preview/feeds/none").status == 404)
            #expect(try Self.shown(service).filter { $0.hasPrefix("user") } == ["user:0", "user:3"])
        }
    }
}
