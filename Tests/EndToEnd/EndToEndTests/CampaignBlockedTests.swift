import Foundation
import TestSupport
import Testing

@Suite("Blocked campaigns", .timeLimit(.untilStuck))
struct CampaignBlockedTests {
    private static let kinds = """
        kinds:
          club:
            fields: {name: {type: text, required: true}}
            cells: {collection: {identifier: ClubCell, size: 300x160, bind: {name: {text: name}}}}
          badge:
            lane: advertisements
            fields: {name: {type: text, required: true}}
            cells: {collection: {identifier: BadgeCell, size: 300x160, bind: {name: {text: name}}}}
          poster:
            lane: advertisements
            fields: {name: {type: text, required: true}}
            cells: {collection: {identifier: PosterCell, size: 300x160, bind: {name: {text: name}}}}
            actions: {impression: analytics}
        sections:
          people: {kinds: [user]}
          quiet: {kinds: [club], ads: 0}
        feeds:
          home: [people]
          calm: [quiet]

        """

    private static func targeting(_ members: String) -> String { #","targeting":{\#(members)}"# }

    private static func campaign(_ id: String, _ creative: String, _ members: String = "") -> String {
        #"{"kind":"campaign","id":"\#(id)","advertiser":"ACME","creatives":["\#(creative)"]\#(members)}"# + "\n"
    }

    /// State and reason of each campaign.
    private static func states(_ service: RunningService) throws -> [String: String] {
        let rows = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?.list ?? []
        return Dictionary(
            rows.map { ($0["campaign"]?.text ?? "", "\($0["state"]?.text ?? ""): \($0["reason"]?.text ?? "")") },
            uniquingKeysWith: { first, _ in first })
    }

    @Test("A blocked campaign has its reason in the list, the report and check-config")
    func blocked() async throws {
        try await offPool {
            let folder = try FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: FileManager.default.temporaryDirectory, create: true
            ).path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let kinds = "\(folder)/kinds.yaml"
            try Self.kinds.write(toFile: kinds, atomically: true, encoding: .utf8)
            // The campaign ends within two hours, and is shown in an hour that begins 20 hours from now.
            let now = Date()
            let end = now.addingTimeInterval(7_200).formatted(.iso8601)
            let past = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: now.addingTimeInterval(72_000)).hour ?? 0
            let campaigns = [
                Self.campaign("open", "1"), Self.campaign("none", "1", Self.targeting(#""attributes":{"none":["plan=pro"]}"#)),
                Self.campaign("attributes", "1", Self.targeting(#""attributes":{"all":["plan=pro"]}"#)),
                Self.campaign("nobody", "1", Self.targeting(#""attributes":{"all":["plan=pro","a=1"],"none":["a=1"]}"#)),
                Self.campaign("quiet", "1", Self.targeting(#""sections":["quiet"]"#)),
                Self.campaign("elsewhere", "1", Self.targeting(#""feeds":["calm"],"sections":["people"]"#)),
                Self.campaign("gone", "2"),
                Self.campaign(
                    "hours", "1",
                    #","starts":"2100-01-01T00:00:00Z","ends":"2100-01-01T08:00:00Z","targeting":{"hours":["10-12"]}"#),
                Self.campaign("left", "1", #","ends":"\#(end)","targeting":{"hours":["\#(past)"]}"#),
                Self.campaign(
                    "over", "1", #","ends":"2020-01-01T00:00:00Z","targeting":{"attributes":{"all":["a=1"],"none":["a=1"]}}"#),
            ]
            let settings = ["kinds.file=\(kinds)", "ads.count-clicks=seen", RunningService.tokenSetting]
            let service = try RunningService(items: Items.users(5) + Items.advertisements(3, reserved: [1, 2]), settings: settings)
            #expect(try service.admin("PUT", "/admin/items/badge/b", body: #"{"name":"B","house":false}"#).status == 201)
            let ids = [
                "open", "none", "attributes", "nobody", "quiet", "elsewhere", "gone", "hours", "left", "over", "unreported", "unplayed",
                "unseen", "cpm", "cpc", "cpv", "priced", "seen", "played", "clicked", "one",
            ]
            func price(_ model: String) -> String { #","price":{"model":"\#(model)","amount":"1.00","currency":"EUR"}"# }
            let goals = [
                Self.campaign("unreported", "badge:b", #","goal":{"total":5}"#),
                Self.campaign("unplayed", "badge:b", #","goal":{"total":5,"unit":"views"}"#),
                Self.campaign("unseen", "badge:b", #","goal":{"total":5,"unit":"clicks"}"#),
                Self.campaign("cpm", "badge:b", price("cpm")), Self.campaign("cpc", "badge:b", price("cpc")),
                Self.campaign("cpv", "1", price("cpv")), Self.campaign("priced", "badge:b", #","goal":{"total":5}"# + price("cpc")),
                Self.campaign("seen", "poster:p", #","goal":{"total":5}"#),
                Self.campaign("played", "film", #","goal":{"total":5,"unit":"views"}"#),
                Self.campaign("clicked", "poster:p", #","goal":{"total":5,"unit":"clicks"}"#),
                Self.campaign("one", #"badge:b","poster:p"#, #","weight":1000"# + price("cpc")),
            ]
            let film =
                #"{"type":"video","contentUrl":"https://a.example/f.mp4","clickthroughUrl":"https://a.example/","mediaType":"video/mp4","house":false}"#
            #expect(try service.admin("PUT", "/admin/items/ad/film", body: film).status == 201)
            #expect(try service.admin("PUT", "/admin/items/poster/p", body: #"{"name":"P","house":false}"#).status == 201)
            for (id, body) in zip(ids, campaigns + goals) {
                let answer = try service.admin("PUT", "/admin/items/campaign/\(id)", body: body)
                #expect(answer.status == 201, "\(answer.text)")
            }
            #expect(try service.admin("DELETE", "/admin/items/ad/2").status == 204)
            // Ads that the store has and no page shows.
            let schedules = [
                "scheduled": #"{"publishAt":"2100-01-01T00:00:00Z","#, "expired": #"{"expireAt":"2020-01-01T00:00:00Z","#,
                "draft": #"{"draft":true,"#, "stopped": "{",
            ]
            for (id, schedule) in schedules {
                #expect(try service.admin("PUT", "/admin/items/ad/\(id)", body: schedule + film.dropFirst()).status == 201)
                #expect(try service.admin("PUT", "/admin/items/campaign/\(id)", body: Self.campaign(id, id)).status == 201)
            }
            #expect(try service.admin("PUT", "/admin/takedowns/ad:stopped").status == 201)
            // A campaign is refused with a house ad, and blocked once one of its ads becomes a house ad.
            let house = "'3' is a house ad: a campaign shows only ads with \"house\": false"
            let refused = try service.admin("PUT", "/admin/items/campaign/mixed", body: Self.campaign("mixed", "3"))
            #expect(
                try refused.status == 422 && JSON(refused.text)["detail"]?.text?.contains("creatives.0: \(house)") == true,
                "\(refused.text)")
            let reserved = Items.advertisement(3, house: false)
            #expect(try service.admin("PUT", "/admin/items/ad/3", with: ["If-Match: *"], body: reserved).status == 200)
            #expect(try service.admin("PUT", "/admin/items/campaign/mixed", body: Self.campaign("mixed", "3")).status == 201)
            #expect(try service.admin("PUT", "/admin/items/ad/3", with: ["If-Match: *"], body: Items.advertisement(3)).status == 200)
            let expected = [
                "attributes":
                    "targeting: attributes of the viewer require viewers.attributes-header or viewers.jwt.attribute-claims, which are not set",
                "none":
                    "targeting: attributes of the viewer require viewers.attributes-header or viewers.jwt.attribute-claims, which are not set",
                "nobody": "targeting: no viewer fits: 'a=1' is both required and excluded",
                "quiet": "its feeds and sections show no ads",
                "elsewhere": "targeting: none of its sections is in one of its feeds",
                "gone": "none of its creatives is public: '2' is taken down",
                "scheduled": "none of its creatives is public: 'scheduled' is scheduled",
                "expired": "none of its creatives is public: 'expired' is expired",
                "draft": "none of its creatives is public: 'draft' is a draft",
                "stopped": "none of its creatives is public: 'stopped' is taken down",
                "hours": "targeting: none of its hours and days is between starts and ends",
                "left": "targeting: none of its hours and days is left before ends",
                "mixed": "creatives: \(house)",
                "unplayed": "goal: the kinds of its creatives have no slot 'complete', so none of the views counts",
                "unreported": "goal: the kinds of its creatives have no slot 'impression', so none of the impressions counts",
                "priced": "goal: the kinds of its creatives have no slot 'impression', so none of the impressions counts",
                "unseen": "goal: the kinds of its creatives have no slot 'impression', so none of the clicks counts",
                "cpm": "price: the kinds of its creatives have no slot 'impression', so none of the impressions counts",
                "cpc": "price: the kinds of its creatives have no slot 'impression', so none of the clicks counts",
                "cpv": "price: the kinds of its creatives have no slot 'complete', so none of the views counts",
            ]
            let states = try Self.states(service)
            for (id, reason) in expected { #expect(states[id]?.hasPrefix("blocked: \(reason)") == true, "\(states)") }
            for id in ["seen", "played", "clicked", "one"] { #expect(states[id]?.hasPrefix("running") == true, "\(states)") }
            // The alert for campaigns without ad slots is for those that may get some.
            let metrics = try service.admin("GET", "/metrics").text.split(separator: "\n")
            for (id, value) in ["unreported": 0, "unplayed": 0, "unseen": 0, "seen": 1, "played": 1, "clicked": 1] {
                #expect(metrics.contains("intertwine_campaign_running{campaign=\"\(id)\"} \(value)"), "\(id)")
            }
            let explained = try JSON(try service.admin("GET", "/admin/explain?feed=home").text)["adSlots"]?[0]?["others"]?.list ?? []
            for id in ["unreported", "mixed", "gone", "draft"] {
                let reason = explained.first { $0["campaign"]?.text == id }?["reason"]?.text
                #expect(reason?.hasPrefix("it is blocked: \(expected[id] ?? "?")") == true, "\(explained)")
            }
            // What cannot count is on no page, also beside an ad of its campaign that can.
            let shown = try (0..<20).flatMap { viewer in
                try JSON(try service.get("/feeds/home", fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"]).text)["cells"]?.list
                    .compactMap { $0["id"]?.text } ?? []
            }
            #expect(shown.contains("poster:p") && !shown.contains("badge:b"), "\(Set(shown))")
            #expect(states["open"] == "running: " && states["over"]?.hasPrefix("ended") == true)
            let report = try JSON(try service.admin("GET", "/admin/reports?by=campaign").text)
            #expect(Set(report["blocked"]?.list.compactMap { $0["campaign"]?.text } ?? []) == Set(expected.keys))
            let options = ["--config", service.configurationFile, "--database", service.database, "--set", "kinds.file=\(kinds)"]
            for command in [["check-config"], ["report", "--by", "campaign"]] {
                let result = try Command.run(command + options)
                let lines = result.lines.filter { $0.contains(" is blocked: ") }
                #expect(result.code == 0 && lines.count == expected.count, "\(result.lines)")
                for (id, reason) in expected {
                    #expect(lines.contains { $0.hasPrefix("warning: the campaign '\(id)' is blocked: \(reason)") }, "\(lines)")
                }
            }
            // An import is warned of as well.
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("items-\(UUID()).ndjson").path
            try Items.users(1).write(toFile: file, atomically: true, encoding: .utf8)
            let imported = try Command.run(["import", file] + options)
            #expect(imported.lines.contains("warning: the campaign 'mixed' is blocked: creatives: \(house)"), "\(imported.lines)")
        }
    }

    @Test("Without ad slots all campaigns are blocked; without viewer names, campaigns with caps are")
    func everywhere() async throws {
        try await offPool {
            let items = Items.users(5) + Items.advertisements(1, reserved: [1]) + Self.campaign("open", "1")
            let none = try RunningService(items: items, settings: ["ads.per-page=0", RunningService.tokenSetting])
            #expect(try Self.states(none)["open"]?.hasPrefix("blocked: its feeds and sections show no ads") == true)
            let capped = Self.campaign("capped", "1", #","caps":[{"count":1,"window":"1h"}]"#)
            let nameless = try RunningService(
                items: items + capped,
                settings: [
                    "viewers.header=", "actions.user.dismissal=analytics", "actions.ad.dismissal=analytics",
                    RunningService.tokenSetting,
                ])
            let states = try Self.states(nameless)
            #expect(states["capped"]?.hasPrefix("blocked: caps: ") == true && states["open"] == "running: ", "\(states)")
        }
    }

    @Test("A campaign under takedown retains its row and deliveries after a restart")
    func takenDown() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(1, reserved: [1]) + Self.campaign("spring", "1"),
                settings: [RunningService.tokenSetting])
            let fields = ["User-Agent: tests", "X-Viewer-ID: ann"]
            let page = try JSON(try service.get("/feed?limit=5", fields: fields).text)
            let ad = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" })
            let token = try #require(ad["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text)
            let body = #"{"events":[{"type":"impression","cell":"ad:1","token":"\#(token)"}]}"#
            #expect((200...299).contains(try service.ask("POST", "/events", fields: fields, body: body).status))
            #expect(try service.admin("PUT", "/admin/takedowns/campaign:spring").status == 201)
            for isRestarted in [false, true] {
                if isRestarted { try service.killAndRestart() }
                let row = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?[0]
                #expect(row?["campaign"]?.text == "spring" && row?["state"]?.text == "taken-down" && row?["delivered"]?.number == 1)
                let report = try JSON(try service.admin("GET", "/admin/reports?by=campaign").text)["rows"]?[0]
                #expect(report?["campaign"]?.text == "spring" && report?["delivered"]?.number == 1)
            }
        }
    }

    @Test("Attributes beyond the limits count as excluded attributes of a campaign")
    func cutAttributes() async throws {
        try await offPool {
            let items =
                Items.users(5) + Items.advertisements(2, reserved: [1])
                + Self.campaign("free", "1", Self.targeting(#""attributes":{"none":["plan=pro"]}"#))
            let service = try RunningService(
                items: items, settings: ["viewers.attributes-header=X-Attributes", RunningService.tokenSetting])
            func ad(_ attributes: String) throws -> String? {
                let page = try JSON(try service.get("/feed", fields: ["User-Agent: tests", "X-Attributes: \(attributes)"]).text)
                return page["cells"]?.list.compactMap { $0["id"]?.text }.first { $0.hasPrefix("ad:") }
            }
            let many = (0..<32).map { "a\($0)=b" }.joined(separator: ", ")
            #expect(try ad("plan=free") == "ad:1" && ad(many) == "ad:1" && ad("plan=pro") == "ad:2")
            #expect(try ad(many + ", plan=pro") == "ad:2" && ad("x=\(String(repeating: " ", count: 2_100)), plan=pro") == "ad:2")
            let long = (0..<20).map { "a\($0)=\(String(repeating: "b", count: 110))" }.joined(separator: ", ")
            #expect(try ad(long + ", plan=pro") == "ad:2")
        }
    }
}
