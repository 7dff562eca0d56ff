import Foundation
import TestSupport
import Testing

@Suite("Campaigns from outside", .timeLimit(.untilStuck))
struct CampaignTests {
    private static func campaign(_ id: String, _ creative: Int, _ members: String = "") -> String {
        #"{"kind":"campaign","id":"\#(id)","advertiser":"ACME","creatives":["\#(creative)"]\#(members)}"# + "\n"
    }

    /// The ad on a viewer's first page, after a report of its impression.
    private static func see(_ viewer: String, _ service: RunningService) throws -> String? {
        let fields = ["User-Agent: tests", "X-Viewer-ID: \(viewer)"]
        let page = try JSON(try service.get("/feed?limit=5", fields: fields).text)
        let cell = page["cells"]?.list.first { $0["id"]?.text?.hasPrefix("ad:") ?? false }
        guard let cell, let id = cell["id"]?.text, let token = cell["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text else {
            return nil
        }
        let body = #"{"events":[{"type":"impression","cell":"\#(id)","token":"\#(token)"}]}"#
        #expect((200...299).contains(try service.ask("POST", "/events", fields: fields, body: body).status))
        return id
    }

    private static func state(_ service: RunningService, _ campaign: String = "spring") throws -> String? {
        let answer = try JSON(try service.admin("GET", "/admin/campaigns").text)
        return answer["campaigns"]?.list.first { $0["campaign"]?.text == campaign }?["state"]?.text
    }

    @Test("A replaced campaign shows its new disclosure to viewers with an earlier ad slot")
    func disclosure() async throws {
        try await offPool {
            func spring(_ label: String) -> String {
                Self.campaign("spring", 1, label.isEmpty ? "" : #","disclosure":{"label":"\#(label)"}"#)
            }
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(1, reserved: [1]) + spring("Anzeige"), settings: [RunningService.tokenSetting])
            func label() throws -> String? {
                let page = try JSON(try service.get("/feed?limit=3", fields: ["User-Agent: tests", "X-Viewer-ID: ann"]).text)
                let ad = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" })
                return ad["actions"]?["configuration"]?["bindings"]?["disclosure"]?["label"]?.text
            }
            #expect(try label() == "Anzeige")
            for written in ["Sponsored", ""] {
                let answer = try service.admin("PUT", "/admin/items/campaign/spring", with: ["If-Match: *"], body: spring(written))
                #expect(answer.status == 200)
                #expect(try label() == (written.isEmpty ? "Advertisement" : written))
            }
        }
    }

    @Test("Three processes on one ledger deliver a goal exactly, also after a restart")
    func processes() async throws {
        try await offPool {
            let items =
                Items.users(20) + Items.advertisements(3, reserved: [2])
                + Self.campaign("spring", 2, #","goal":{"total":40},"priority":"sponsorship""#)
            let first = try RunningService(items: items, settings: [RunningService.tokenSetting])
            let others = try (0..<2).map { _ in try RunningService(in: first.folder, settings: [RunningService.tokenSetting]) }
            let services = [first] + others
            var shown = 0
            var viewer = 0
            try poll {
                for service in services {
                    viewer += 1
                    if try Self.see("v\(viewer)", service) == "ad:2" { shown += 1 }
                }
                return try services.allSatisfy { try Self.state($0) == "reached" }
            }
            #expect(shown >= 40)
            let counted = try first.events().count { $0["campaign"]?.text == "spring" && $0["verdict"]?.text == "counted" }
            #expect(counted == 40)
            for number in 0..<9 { #expect(try Self.see("w\(number)", services[number % 3]) != "ad:2") }
            try first.killAndRestart()
            #expect(try Self.state(first) == "reached")
            #expect(try Self.see("x", first) != "ad:2")
        }
    }

    @Test("Reports and the campaign list show deliveries against goal and pace")
    func pace() async throws {
        try await offPool {
            let goal = #","starts":"2020-01-01T00:00:00Z","ends":"2020-01-03T00:00:00Z","goal":{"total":4}"#
            let items =
                Items.users(5) + Items.advertisements(2, reserved: [1, 2]) + Self.campaign("open", 1) + Self.campaign("over", 2, goal)
            let service = try RunningService(items: items, settings: [RunningService.tokenSetting])
            for viewer in ["a", "b", "c"] { #expect(try Self.see(viewer, service) == "ad:1") }
            let told = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?.list ?? []
            #expect(told.map { $0["delivered"]?.number } == [3, 0] && told.map { $0["pace"]?.number } == [nil, 0])
            let rows = try JSON(try service.admin("GET", "/admin/reports?by=campaign").text)["rows"]?.list ?? []
            #expect(rows.count == 1 && rows[0]["campaign"]?.text == "open" && rows[0]["delivered"]?.number == 3)
            #expect(rows[0]["unit"] == nil && rows[0]["pace"] == nil)
            // The goal is added later and is due completely at once.
            _ = try service.importItems(Self.campaign("open", 1, #","goal":{"total":12}"#))
            var table = ""
            try poll {
                table = try service.admin("GET", "/admin/reports?by=campaign&format=csv").text
                return table.contains(",impressions,12,")
            }
            #expect(table.hasPrefix("campaign,impressions,"), "\(table)")
            #expect(table.contains("ctr,unit,total,daily,delivered,deliveredToday,due,dueToday,pace\r\n"), "\(table)")
            #expect(table.contains("\r\nopen,3,") && table.hasSuffix(",impressions,12,,3,3,12,,0.2500\r\n"), "\(table)")
            let options = ["report", "--config", service.configurationFile, "--database", service.database, "--by", "campaign"]
            let printed = try Command.run(options + ["--format", "csv"])
            #expect(
                printed.lines.map { $0.replacing("\r", with: "") }.filter { !$0.isEmpty }
                    == table.split(separator: "\r\n").map(String.init))
            let row = try #require(try JSON(try Command.run(options + ["--format", "json"]).lines.joined())[0])
            #expect(row["unit"]?.text == "impressions" && row["due"]?.number == 12)
            #expect(row["daily"]?.isNull == true && "\(row["pace"]?.value ?? "")" == "0.25")
        }
    }

    @Test(
        "An invalid campaign file prevents the start with its line and reason"
    )
    func refused() async throws {
        try await offPool {
            let items = Items.users(5) + Items.advertisements(2, reserved: [1, 2]) + Self.campaign("stored", 2)
            let service = try RunningService(items: items)
            let file = "\(service.folder)/campaigns.yaml"
            func start(_ text: String, _ more: String...) throws -> String {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let result = try Command.run(
                    [
                        "serve", "--config", "\(service.folder)/empty.yaml", "--database", service.database, "--port", "0", "--admin-port",
                        "0",
                        "--set", "campaigns.file=\(file)",
                    ] + more.flatMap { ["--set", $0] })
                #expect(result.code != 0)
                return result.lines.joined(separator: "\n")
            }
            #expect(
                try start("campaigns:\n  a: {advertiser: A, creatives: [1], goal: {total: 0}}\n").contains(
                    "campaigns.yaml:2:45: a: goal.total"))
            #expect(
                try start("campaigns:\n  a: {advertiser: A, creatives: [1]}\n", "ads.placement=pinned").contains(
                    "campaigns have no ad slots")
            )
            #expect(
                try start("campaigns:\n  stored: {advertiser: A, creatives: [1]}\n").contains(
                    "the store has a campaign with the id 'stored'")
            )
        }
    }

    @Test("The check-config command validates campaigns against the store without any write")
    func checked() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(2, reserved: [1, 2]) + Self.campaign("stored", 2))
            let file = "\(service.folder)/campaigns.yaml"
            func check(_ text: String, database: String) throws -> (code: Int32, text: String) {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let result = try Command.run([
                    "check-config", "--config", "\(service.folder)/empty.yaml", "--database", database, "--set", "campaigns.file=\(file)",
                ])
                return (result.code, result.lines.joined(separator: "\n"))
            }
            let wrong = try check(
                "campaigns:\n  a: {advertiser: A, creatives: [1, 9]}\n  stored: {advertiser: A, creatives: [1]}\n",
                database: service.database)
            #expect(wrong.code != 0)
            #expect(wrong.text.contains("campaigns.yaml:3:3: stored: the store has a campaign with the id 'stored' too"), "\(wrong.text)")
            let good = try check("campaigns:\n  a: {advertiser: A, creatives: [1]}\n", database: service.database)
            #expect(good.code == 0 && !good.text.contains("campaigns.file:"), "\(good.text)")
            // A campaign without an ad is blocked.
            let unknown = "campaigns:\n  a: {advertiser: A, creatives: [8]}\n"
            let missing = try check(unknown, database: service.database)
            #expect(missing.code == 0 && missing.text.contains("a: the store has no ad '8', and it is left out"), "\(missing.text)")
            #expect(missing.text.contains("warning: the campaign 'a' is blocked: none of its creatives exists"), "\(missing.text)")
            let none = try check(unknown, database: "\(service.folder)/none.sqlite")
            #expect(
                none.code == 0 && none.text.contains("campaigns.file: not checked against the store: there is no store yet"), "\(none.text)"
            )
            #expect(!FileManager.default.fileExists(atPath: "\(service.folder)/none.sqlite"))
        }
    }

    @Test("A takedown of a campaign removes its images, except images of other campaigns")
    func images() async throws {
        try await offPool {
            let ads = (1...2).map { number in
                #"{"kind":"ad","id":\#(number),"contentUrl":"http://pictures.sample.invalid/ad-\#(number).png","#
                    + #""clickthroughUrl":"https://shop.example/\#(number)","type":"image","house":false}"# + "\n"
            }.joined()
            let both = #"{"kind":"campaign","id":"both","advertiser":"ACME","creatives":["1","2"]}"# + "\n"
            let service = try RunningService(
                items: Items.users(3) + ads + both + Self.campaign("one", 1), settings: [RunningService.tokenSetting])
            let paths = try (1...2).map { number in
                String(try #require(try service.get("/cells/ad:\(number)").text.firstMatch(of: /\/images\/[^"]+/)).0)
            }
            func answers() throws -> [Int] { try paths.map { try service.get($0).status } }
            #expect(try answers() == [200, 200])
            #expect(try service.admin("PUT", "/admin/takedowns/campaign:both").status == 201)
            try poll { try answers() == [200, 410] }
            #expect(try service.admin("DELETE", "/admin/takedowns/campaign:both").status == 204)
            try poll { try answers() == [200, 200] }
        }
    }

    @Test("A takedown of a campaign or ad affects the next page, and house ads follow")
    func takenDown() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(3, reserved: [2, 3]) + Self.campaign("spring", 2) + Self.campaign("autumn", 3),
                settings: [RunningService.tokenSetting])
            #expect(["ad:2", "ad:3"].contains(try Self.see("a", service) ?? ""))
            #expect(try service.admin("PUT", "/admin/takedowns/ad:2").status == 201)
            for viewer in ["a", "b", "c", "d"] { #expect(try Self.see(viewer, service) == "ad:3") }
            let held = try JSON(try service.get("/feed?limit=5", fields: ["X-Viewer-ID: late"]).text)
            let ad = try #require(held["cells"]?.list.first { $0["id"]?.text == "ad:3" })
            let link = try #require(ad["actions"]?["selection"]?["href"]?.text)
            let token = try #require(ad["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text)
            #expect(try service.get(link, fields: ["User-Agent: tests"]).status == 302)
            #expect(try service.admin("PUT", "/admin/takedowns/campaign:autumn").status == 201)
            // Its links and tokens are invalid everywhere.
            #expect(try service.get(link, fields: ["User-Agent: tests"]).status == 410)
            #expect(try service.get("/cells/ad:3").status == 404)
            let body = #"{"events":[{"type":"impression","cell":"ad:3","token":"\#(token)"}]}"#
            _ = try service.ask("POST", "/events", fields: ["User-Agent: tests", "X-Viewer-ID: late"], body: body)
            #expect(try service.events().allSatisfy { $0["viewer"]?.text != "late" || $0["kind"]?.text != "impression" })
            for viewer in ["a", "b", "c", "d"] { #expect(try Self.see(viewer, service) == "ad:1") }
            #expect(try service.importItems(Self.campaign("autumn", 3)).first?.contains("withheld 1") == true)
        }
    }

    @Test("An explanation reports dismissed ads and takedowns with their reasons")
    func explained() async throws {
        try await offPool {
            let more = Self.campaign("low", 2, #","priority":"house""#) + Self.campaign("off", 3)
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(4, reserved: [1, 2, 3]) + Self.campaign("top", 1) + more,
                settings: [RunningService.tokenSetting])
            #expect(try service.ask("POST", "/cells/ad:1/dismissal", fields: ["X-Viewer-ID: ann"]).status < 300)
            for item in ["campaign:off", "ad:4"] {
                #expect(try service.admin("PUT", "/admin/takedowns/\(item)").status == 201)
            }
            let told = try JSON(try service.admin("GET", "/admin/explain?viewer=ann&limit=5").text)
            let place = try #require(told["adSlots"]?[0])
            #expect(place["campaign"]?.text == "low" && told["cells"]?.list.contains { $0["cell"]?.text == "ad:2" } == true)
            let reasons = (place["others"]?.list ?? []).map { "\($0["campaign"]?.text ?? ""): \($0["reason"]?.text ?? "")" }
            #expect(reasons.contains { $0.hasPrefix("top: its creatives cannot be shown") } && reasons.contains("off: it is taken down"))
            let excluded = (told["excludedAdvertisements"]?.list ?? []).map { "\($0["id"]?.text ?? ""): \($0["reason"]?.text ?? "")" }
            #expect(excluded == ["1: the viewer has dismissed it", "3: its campaign is taken down"])
            let takenDown = (told["takenDown"]?.list ?? []).map { "\($0["kind"]?.text ?? ""):\($0["id"]?.text ?? "")" }
            #expect(takenDown == ["campaign:off", "ad:4"])
            #expect(try Self.see("ann", service) == "ad:2")
        }
    }

    @Test("Loaded pages do not change until a takedown removes their ad")
    func changes() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(20) + Items.advertisements(3, reserved: [2]) + Self.campaign("spring", 2),
                settings: [RunningService.tokenSetting])
            var client = FeedClient()
            try client.load(service, "/feed?limit=5&changes=true", pages: 2)
            let held = client.cells
            #expect(held.count { $0.contains(#""id":"ad:2""#) } == 2)
            for _ in 0..<3 {
                try client.follow(service)
                #expect(client.changes == 0 && client.cells == held)
            }
            #expect(try service.admin("PUT", "/admin/takedowns/ad:2").status == 201)
            try client.follow(service)
            #expect(client.changes > 0 && !client.cells.contains { $0.contains(#""id":"ad:2""#) })
        }
    }

    @Test("A takedown of a declared campaign survives a restart and ends with its release")
    func takenDownOfFile() async throws {
        try await offPool {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("campaigns-\(UUID()).yaml").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            try "campaigns:\n  spring: {advertiser: ACME, creatives: [1]}\n  autumn: {advertiser: ACME, creatives: [2]}\n".write(
                toFile: file, atomically: true, encoding: .utf8)
            let items = Items.users(5) + Items.advertisements(3, reserved: [1, 2])
            let service = try RunningService(items: items, settings: ["campaigns.file=\(file)", RunningService.tokenSetting])
            var viewers = 0
            func shown() throws -> Set<String?> {
                viewers += 20
                return Set(try (0..<20).map { try Self.see("v\(viewers + $0)", service) })
            }
            #expect(try shown() == ["ad:1", "ad:2"])
            #expect(try service.admin("PUT", "/admin/takedowns/campaign:spring").status == 201)
            #expect(try shown() == ["ad:2"])
            #expect(try Self.state(service) == "taken-down")
            #expect(try service.admin("PUT", "/admin/takedowns/ad:2").status == 201)
            #expect(try shown() == ["ad:3"])
            try service.killAndRestart()
            #expect(try shown() == ["ad:3"])
            #expect(try service.admin("DELETE", "/admin/takedowns/campaign:spring").status == 204)
            #expect(try shown() == ["ad:1"])
            // A missing ad that existed before does not prevent the start.
            #expect(try service.admin("DELETE", "/admin/takedowns/ad:2").status == 204)
            #expect(try service.admin("DELETE", "/admin/items/ad/1").status == 204)
            try service.killAndRestart()
            #expect(try shown() == ["ad:3"])
        }
    }

    @Test("A viewer's cap applies across two processes and a restart, and impressions beyond it are surplus")
    func capsOfProcesses() async throws {
        try await offPool {
            let items =
                Items.users(20) + Items.advertisements(3, reserved: [2])
                + Self.campaign("spring", 2, #","caps":[{"count":1,"window":"1d"}]"#)
            let first = try RunningService(items: items, settings: [RunningService.tokenSetting])
            let services = [first, try RunningService(in: first.folder, settings: [RunningService.tokenSetting])]
            func page(_ service: RunningService, _ path: String, _ viewer: Int) throws -> JSON {
                try JSON(try service.get(path, fields: ["X-Viewer-ID: v\(viewer)"]).text)
            }
            func isShown(_ page: JSON) -> Bool { page["cells"]?.list.contains { $0["id"]?.text == "ad:2" } ?? false }
            for number in 0..<10 {
                // Each process may offer the ad before it is seen.
                #expect(try Self.see("v\(number)", services[number % 2]) == "ad:2")
                let next = try page(services[number % 2], "/feed?limit=5", number)["page"]?["next"]?.text
                for service in services { #expect(try !isShown(page(service, try #require(next), number)), "\(number)") }
            }
            try first.killAndRestart()
            for number in 0..<10 { #expect(try !isShown(page(first, "/feed?limit=6", number)), "\(number)") }
            let events = try first.events().filter { $0["campaign"]?.text == "spring" }
            #expect(events.count { $0["verdict"]?.text == "counted" } == 10)
            #expect(events.allSatisfy { ["counted", "surplus", "duplicate"].contains($0["verdict"]?.text) })
        }
    }

    @Test("Two processes give a viewer the same page", arguments: [#","caps":[{"count":1,"window":"1h"}]"#, ""])
    func samePageOfProcesses(caps: String) async throws {
        try await offPool {
            let members = caps + #","goal":{"total":200},"priority":"sponsorship""#
            let items =
                Items.users(20) + Items.advertisements(3, reserved: [2, 3]) + Self.campaign("one", 2, members) + Self.campaign("g", 3)
            let first = try RunningService(items: items, settings: [RunningService.tokenSetting])
            let second = try RunningService(in: first.folder, settings: [RunningService.tokenSetting])
            for number in 0..<10 {
                let pages = try [first, second, first, second].map { service -> [String] in
                    let answer = try JSON(try service.get("/feed?limit=6", fields: ["X-Viewer-ID: v\(number)"]).text)
                    return (answer["cells"]?.list ?? []).compactMap { $0["id"]?.text }
                }
                #expect(pages[0].contains("ad:2"), "\(number)")
                #expect(Set(pages).count == 1, "\(number)")
            }
        }
    }

    @Test("A reload preserves campaign deliveries; a file with a fault is not applied")
    func readAgain() async throws {
        try await offPool {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("campaigns-\(UUID()).yaml").path
            defer { try? FileManager.default.removeItem(atPath: file) }
            func write(_ members: String) throws {
                try "campaigns:\n  spring: {advertiser: ACME, \(members)}\n".write(toFile: file, atomically: true, encoding: .utf8)
            }
            try write("creatives: [1], goal: {total: 2}")
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(3, reserved: [1, 3]),
                settings: ["campaigns.file=\(file)", RunningService.tokenSetting])
            for viewer in ["a", "b"] { #expect(try Self.see(viewer, service) == "ad:1") }
            #expect(try Self.see("c", service) != "ad:1")
            try write("creatives: []")
            service.process.signal(SIGHUP)
            #expect(try service.process.line(containing: "not applied").contains("creatives"))
            #expect(try Self.state(service) == "reached")
            try write("creatives: [3], goal: {total: 3}")
            service.process.signal(SIGHUP)
            _ = try service.process.line(containing: "configuration reloaded")
            #expect(try Self.see("d", service) == "ad:3")
            #expect(try Self.see("e", service) != "ad:3")
            #expect(try Self.state(service) == "reached")
            let renamed = "autumn: {advertiser: ACME, creatives: [3], goal: {total: 3}}\n  winter: {advertiser: ACME, creatives: [1]}"
            try "campaigns:\n  \(renamed)\n".write(toFile: file, atomically: true, encoding: .utf8)
            service.process.signal(SIGHUP)
            #expect(try service.process.line(containing: "spring to autumn").contains("winter"))
        }
    }
}
