import Foundation
import TestSupport
import Testing

/// Goals with a clock under the test's control.
@Suite("Campaign goals from outside", .timeLimit(.untilStuck))
struct CampaignGoalTests {
    private static func service(_ clock: MovableClock, _ members: String) throws -> RunningService {
        let campaign =
            #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"],"priority":"sponsorship"\#(members)}"# + "\n"
        return try RunningService(
            items: Items.users(5) + Items.advertisements(2, reserved: [1]) + campaign,
            settings: [RunningService.tokenSetting, "events.report-verdict=true"],
            environment: clock.environment)
    }

    private static func fields(_ viewer: String) -> [String] { ["User-Agent: tests", "X-Viewer-ID: \(viewer)"] }

    /// The impression event and the link of the campaign's ad on a viewer's page; nil if the page has another ad.
    private static func page(_ service: RunningService, _ viewer: String) throws -> (event: String, link: String)? {
        let page = try JSON(try service.get("/feed?limit=5", fields: fields(viewer)).text)
        guard let actions = page["cells"]?.list.first(where: { $0["id"]?.text == "ad:1" })?["actions"] else { return nil }
        let token = try #require(actions["impression"]?["body"]?["events"]?[0]?["token"]?.text)
        return (#"{"events":[{"type":"impression","cell":"ad:1","token":"\#(token)"}]}"#, try #require(actions["selection"]?["href"]?.text))
    }

    /// The verdict of an impression; the whole response if it has none.
    private static func see(_ event: String, _ service: RunningService, _ viewer: String) throws -> String {
        let response = try service.ask("POST", "/events", fields: fields(viewer), body: event)
        return try JSON(response.text)["results"]?[0]?["verdict"]?.text ?? "\(response.status) \(response.text)"
    }

    private static func campaign(_ service: RunningService) throws -> (state: String?, delivered: Int?) {
        let row = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?[0]
        return (row?["state"]?.text, row?["delivered"]?.number.map { Int($0) })
    }

    @Test("Impressions count however slowly a viewer reads, and beyond the goal they are surplus")
    func late() async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock, #","goal":{"total":30}"#)
            let first = try (0..<30).map { try #require(try Self.page(service, "a\($0)")) }
            clock.offset = 240
            let seen = try (0..<10).map { try Self.see(first[$0].event, service, "a\($0)") }
            #expect(seen.allSatisfy { $0 == "counted" }, "\(seen)")
            clock.offset = 3_600
            // Offers that nobody has seen for so long are given up.
            let second = try (0..<10).map { try #require(try Self.page(service, "b\($0)")) }
            let later = try (10..<30).map { try Self.see(first[$0].event, service, "a\($0)") }
            #expect(later.allSatisfy { $0 == "counted" }, "\(later)")
            let surplus = try (0..<10).map { try Self.see(second[$0].event, service, "b\($0)") }
            #expect(surplus.allSatisfy { $0 == "surplus" }, "\(surplus)")
            let told = try Self.campaign(service)
            #expect(told.state == "reached" && told.delivered == 30)
            let rows = try JSON(try service.admin("GET", "/admin/reports?by=reason").text)["rows"]?.list ?? []
            #expect(rows.first { $0["reason"]?.text == "surplus" }?["impressions"]?.number == 10)
            #expect(rows.first { $0["reason"]?.text == "counted" }?["impressions"]?.number == 30)
        }
    }

    @Test("No page waits for a write, also of campaigns with goals and caps", arguments: CountTests.Store.allCases)
    func writes(store: CountTests.Store) async throws {
        try await offPool {
            let campaign =
                #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"],"priority":"sponsorship","goal":{"total":100},"#
                + #""caps":[{"count":3,"window":"1h"}]}"# + "\n"
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(2, reserved: [1]) + campaign,
                settings: [RunningService.tokenSetting, "events.report-verdict=true", "ledger.write-timeout=2s"],
                database: store == .postgresql ? PostgresServer.shared().makeDatabase().uri : nil)
            let first = try #require(try Self.page(service, "a"))
            let holder = try StoreHolder(of: service, holding: .ledgerWrites)
            let start = ContinuousClock.now
            for viewer in 0..<20 { #expect(try Self.page(service, "b\(viewer)") != nil) }
            // Each write waits for two seconds.
            #expect(start.duration(to: .now) < .seconds(20))
            #expect(try Self.see(first.event, service, "a").hasPrefix("503 "))
            try holder.letGo()
            try poll { try Self.see(first.event, service, "a") == "counted" }
            try poll { try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?[0]?["offers"]?.number == 21 }
        }
    }

    @Test("A report by campaign and day has the days of each campaign's zone")
    func ownDays() async throws {
        try await offPool {
            // It is never the same day in both zones.
            let zones = [("east", 1, "+14:00"), ("west", 2, "-12:00")]
            let campaigns: [String] = zones.map { id, ad, zone in
                #"{"kind":"campaign","id":"\#(id)","advertiser":"ACME","creatives":[\#(ad)],"zone":"\#(zone)"}"#
            }
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(2, reserved: [1, 2]) + campaigns.joined(separator: "\n") + "\n",
                settings: [RunningService.tokenSetting])
            for ad in 1...2 {
                let cell = try JSON(try service.get("/cells/ad:\(ad)", fields: Self.fields("ann")).text)
                let body = try #require(cell["actions"]?["impression"]?["body"]?.value)
                let event = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
                #expect(try service.ask("POST", "/events", fields: Self.fields("ann"), body: event).text.contains(#""counted""#))
            }
            let now = Date()
            func day(_ hours: Int) -> String { String(now.addingTimeInterval(Double(hours) * 3_600).formatted(.iso8601).prefix(10)) }
            let span = "from=\(day(-48))&to=\(day(48))&by=campaign"
            let report = try JSON(try service.admin("GET", "/admin/reports?\(span)&thenBy=day&zone=campaign").text)
            let days = (report["rows"]?.list ?? []).map {
                [$0["campaign"]?.text, $0["day"]?.text, $0["impressions"]?.number.map(String.init)]
            }
            #expect(days == [["east", day(14), "1"], ["west", day(-12), "1"]])
            #expect(try service.admin("GET", "/admin/reports?\(span)&thenBy=hour&zone=campaign").status == 400)
            let options = ["--config", service.configurationFile, "--database", service.database, "--format", "csv", "--zone", "campaign"]
            let command = try Command.run(
                ["report", "--by", "campaign", "--then-by", "day", "--from", day(-48), "--to", day(48)] + options)
            #expect(command.lines.dropFirst().map { $0.prefix(18) } == ["east,\(day(14)),1,", "west,\(day(-12)),1,"])
            #expect(try service.admin("DELETE", "/admin/items/campaign/west", with: ["If-Match: *"]).status == 204)
            // A change of the campaigns reaches reports soon after it.
            try poll {
                let gone = try JSON(try service.admin("GET", "/admin/reports?\(span)&thenBy=day&zone=campaign").text)
                return gone["unknownZones"]?.list.map(\.text) == ["west"] && gone["rows"]?.list.count == 1
            }
            let warned = try Command.run(
                ["report", "--by", "campaign", "--then-by", "day", "--from", day(-48), "--to", day(48)] + options)
            #expect(warned.lines.contains { $0.contains("the campaign 'west' is gone") } && warned.lines.count == 3, "\(warned)")
        }
    }

    @Test("One person's clicks on one ad within the window are paid once, from however many pages and slots")
    func pagesLoadedTwice() async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock, "")
            func click(_ fields: [String]) throws -> String? {
                let page = try JSON(try service.get("/feed?limit=5", fields: fields).text)
                let cell = page["cells"]?.list.first { $0["id"]?.text == "ad:1" }
                return try service.get(try #require(cell?["actions"]?["selection"]?["href"]?.text), fields: fields)["X-Verdict"]
            }
            let (ann, anybody, other) = (Self.fields("ann"), ["User-Agent: Mozilla/5.0 (one)"], ["User-Agent: Mozilla/5.0 (other)"])
            for person in [ann, anybody, other] {
                #expect(try (0..<3).map { _ in try click(person) } == ["counted", "duplicate", "duplicate"], "\(person)")
            }
            // A named viewer has the same page and links for some minutes.
            clock.offset = 3_700
            for person in [ann, anybody, other] { #expect(try click(person) == "counted", "\(person)") }
            let rows = try JSON(try service.admin("GET", "/admin/reports?by=campaign").text)["rows"]
            #expect(rows?[0]?["clicks"]?.number == 6)
        }
    }

    @Test("Clicks after a reached click goal are surplus, and their links still redirect")
    func clicks() async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock, #","goal":{"unit":"clicks","total":2}"#)
            let pages = try (0..<6).map { try #require(try Self.page(service, "a\($0)")) }
            let verdicts = try pages.enumerated().map { number, page in
                let response = try service.get(page.link, fields: Self.fields("a\(number)"))
                #expect(response.status == 302)
                return response["X-Verdict"]
            }
            #expect(verdicts == ["counted", "counted", "surplus", "surplus", "surplus", "surplus"])
            // The impression still counts.
            #expect(try Self.see(pages[5].event, service, "a5") == "counted")
            #expect(try Self.campaign(service).delivered == 2)
            try Self.void(service)
        }
    }

    /// An operator takes the counted clicks back, and the campaign owes them again.
    private static func void(_ service: RunningService) throws {
        let past = #""from":"2020-01-01T00:00:00Z","until":"2020-12-31T00:00:00Z""#
        #expect(try service.admin("POST", "/admin/events/void", body: "{\(past)}").status == 200)
        for (body, status) in [("", 400), ("[]", 400), ("{}", 422), (#"{\#(past),"kind":"save"}"#, 422), (#"{\#(past),"dry":1}"#, 422)] {
            #expect(try service.admin("POST", "/admin/events/void", body: body).status == status, "\(body)")
        }
        // What is no condition after all would void the events of all campaigns.
        for member in ["kind", "campaign", "address", "userAgent"] {
            #expect(try service.admin("POST", "/admin/events/void", body: #"{\#(past),"\#(member)":""}"#).status == 422, "\(member)")
        }
        for path in ["/admin/events/void?dryRun=true", "/admin/items?dryrun=true", "/admin/items?dryRun=true&on-error=skip"] {
            #expect(try service.admin("POST", path, body: "{\(past)}").status == 400, "\(path)")
        }
        let now = Int64(Date().timeIntervalSince1970)
        func time(_ second: Int64) -> String { ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(second))) }
        func void(isDryRun: Bool) throws -> Int? {
            let body =
                #"{"from":"\#(time(now - 7_200))","until":"\#(time(now + 7_200))","kind":"click","campaign":"spring","dryRun":\#(isDryRun)}"#
            let answer = try service.admin("POST", "/admin/events/void", body: body).text
            #expect(answer.contains(#""dryRun":\#(isDryRun)"#))
            return try JSON(answer)["events"]?.number
        }
        #expect(try void(isDryRun: true) == 2)
        #expect(try campaign(service).delivered == 2)
        func command(_ more: String...) throws -> [String] {
            let options = [
                "--config", service.configurationFile, "--database", service.database, "--set", "server.data-folder=\(service.folder)",
            ]
            return try Command.run(["void"] + options + ["--from", time(now - 7_200), "--until", time(now + 7_200)] + more).lines
        }
        #expect(try command("--kind", "click", "--dry-run") == ["spring\tclick\t2", "2 events would be voided"])
        #expect(try command("--campaign", "winter") == ["0 events voided"] && command("--address", "192.0.2.7") == ["0 events voided"])
        #expect(try Command.run(["void", "--from", time(now), "--until", time(now)]).code == 64)
        for option in ["--kind", "--campaign", "--address", "--user-agent"] {
            #expect(try Command.run(["void", "--from", time(now - 60), "--until", time(now), option, ""]).code == 64, "\(option)")
        }
        #expect(try Command.run(["void", "--from", "2020-01-01T00:00:00Z", "--until", time(now)]).code == 64)
        #expect(try command("--kind", "click", "--campaign", "spring") == ["spring\tclick\t2", "2 events voided"])
        #expect(try service.audited().contains { $0["method"]?.text == "void" })
        #expect(try void(isDryRun: false) == 0)
        for grouping in ["campaign", "ad", "day", "hour", "advertiser", "position"] {
            let row = try JSON(try service.admin("GET", "/admin/reports?by=\(grouping)").text)["rows"]?[0]
            #expect(row?["clicks"]?.number == 0 && row?["counts"]?["voided-click"]?.number == 2, "\(grouping)")
            #expect(row?["counts"]?["surplus-click"]?.number == 4)
        }
        // The service reads the counts twice a second.
        var viewer = 0
        try poll {
            viewer += 1
            return try Self.page(service, "b\(viewer)") != nil
        }
        let page = try #require(try Self.page(service, "b\(viewer)"))
        #expect(try service.get(page.link, fields: fields("b\(viewer)"))["X-Verdict"] == "counted")
    }
}
