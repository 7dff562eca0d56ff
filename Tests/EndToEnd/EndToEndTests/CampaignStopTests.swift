import Foundation
import TestSupport
import Testing

/// The ads of a campaign are shown for campaigns alone, however it stops.
@Suite("Stopped campaigns, from outside", .timeLimit(.untilStuck))
struct CampaignStopTests {
    /// A service with a campaign file that the test writes.
    private struct Fixture {
        let file: String
        let service: RunningService
        private(set) var viewers = 0

        init(_ campaigns: String) throws {
            file = FileManager.default.temporaryDirectory.appendingPathComponent("campaigns-\(UUID()).yaml").path
            try Self.write(campaigns, to: file)
            service = try RunningService(
                items: Items.users(5) + Items.advertisements(3, reserved: [1, 2, 3]),
                settings: ["campaigns.file=\(file)", RunningService.tokenSetting, "events.report-verdict=true"])
        }

        private static func write(_ campaigns: String, to file: String) throws {
            try "campaigns: {\(campaigns)}\n".write(toFile: file, atomically: true, encoding: .utf8)
        }

        /// - Parameter isRestarted: whether the service restarts, instead of a reload of the file.
        func write(_ campaigns: String, isRestarted: Bool) throws {
            try Self.write(campaigns, to: file)
            if isRestarted { return try service.killAndRestart() }
            service.process.signal(SIGHUP)
            while let line = try service.process.nextLine(), !line.contains("configuration reloaded") {}
        }

        /// The ads on the pages of 20 new viewers.
        mutating func shown() throws -> Set<String> {
            viewers += 20
            let pages = try (viewers - 20..<viewers).map {
                try JSON(try service.get("/feed?limit=5", fields: ["User-Agent: tests", "X-Viewer-ID: v\($0)"]).text)
            }
            return Set(pages.flatMap { ($0["cells"]?.list ?? []).compactMap { $0["id"]?.text }.filter { $0.hasPrefix("ad:") } })
        }

        func cells() throws -> [Int] { try (1...3).map { try service.get("/cells/ad:\($0)").status } }

        func states() throws -> [String: String] {
            let told = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?.list ?? []
            return Dictionary(uniqueKeysWithValues: told.map { ($0["campaign"]?.text ?? "", $0["state"]?.text ?? "") })
        }
    }

    private static let keeper = "autumn: {advertiser: ACME, creatives: [2]}"

    @Test("An operator pauses and resumes campaigns of the file, over restarts, until they return to it")
    func overridden() async throws {
        try await offPool {
            var fixture = try Fixture(
                "spring: {advertiser: ACME, creatives: [1]}, autumn: {advertiser: ACME, creatives: [2], paused: true}")
            let service = fixture.service
            func set(_ campaign: String, _ body: String) throws -> Int {
                try service.admin(
                    "PUT", "/admin/campaigns/\(campaign)/override", with: ["Content-Type: application/json"], body: body
                ).status
            }
            func told(_ campaign: String) throws -> JSON? {
                try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?.list.first { $0["campaign"]?.text == campaign }
            }
            #expect(try fixture.shown() == ["ad:1"])
            #expect(try set("spring", #"{"paused":true}"#) == 204 && set("autumn", #"{"paused":false}"#) == 204)
            #expect(try fixture.shown() == ["ad:2"])
            #expect(try told("spring")?["reason"]?.text == "an operator has paused it" && told("spring")?["state"]?.text == "paused")
            #expect(try told("spring")?["override"]?.text == "paused" && told("autumn")?["override"]?.text == "running")
            #expect(try told("autumn")?["state"]?.text == "running" && told("autumn")?["origin"]?.text == "file")
            #expect(try service.admin("GET", "/admin/explain?limit=5").text.contains("an operator has paused it"))
            // An override is no item, and no takedown of one.
            #expect(try !service.admin("GET", "/admin/takedowns").text.contains("spring"))
            #expect(try !service.admin("GET", "/admin/items?state=taken-down").text.contains("spring"))
            try service.killAndRestart()
            #expect(try fixture.shown() == ["ad:2"])
            #expect(try set("spring", #"{"paused":1}"#) == 422 && set("spring", "[]") == 400 && set("winter", #"{"paused":true}"#) == 404)
            // A misspelled member is no member.
            #expect(
                try set("spring", #"{"paused":false,"until":"2030-01-01T00:00:00Z"}"#) == 422 && set("spring", #"{"pause":true}"#) == 422)
            #expect(try told("spring")?["override"]?.text == "paused")
            #expect(try service.admin("PUT", "/admin/takedowns/ad:1", body: #"{"resaon":"x"}"#).status == 422)
            #expect(try service.admin("DELETE", "/admin/campaigns/spring/override").status == 204)
            #expect(try service.admin("DELETE", "/admin/campaigns/autumn/override").status == 204)
            #expect(try fixture.shown() == ["ad:1"])
            #expect(try told("spring")?["override"] == nil && told("autumn")?["reason"]?.text == "it is paused")
            // One override replaces the other, and it can be deleted when the file has the campaign no more.
            #expect(try set("spring", #"{"paused":true}"#) == 204 && set("spring", #"{"paused":false}"#) == 204)
            #expect(try told("spring")?["override"]?.text == "running")
            try fixture.write("autumn: {advertiser: ACME, creatives: [2]}", isRestarted: false)
            let checked = try Command.run(["check-config", "--config", service.configurationFile, "--database", service.database])
            #expect(checked.lines.contains { $0.contains("an operator has overridden the campaign 'spring'") }, "\(checked)")
            #expect(try service.admin("DELETE", "/admin/campaigns/spring/override").status == 204)
            #expect(try service.admin("DELETE", "/admin/campaigns/spring/override").status == 404)
        }
    }

    @Test("No page shows an ad that campaigns alone show once none names it, until it is a house ad", arguments: [true, false])
    func takenOut(isRestarted: Bool) async throws {
        try await offPool {
            var fixture = try Fixture("spring: {advertiser: ACME, creatives: [1, 3]}, \(Self.keeper)")
            let service = fixture.service
            #expect(try fixture.shown() == ["ad:1", "ad:2", "ad:3"])
            let page = try JSON(try service.get("/cells/ad:1").text)
            let link = try #require(page["actions"]?["selection"]?["href"]?.text)
            let token = try #require(page["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text)
            try fixture.write("spring: {advertiser: ACME, creatives: [3]}, \(Self.keeper)", isRestarted: isRestarted)
            #expect(try fixture.shown() == ["ad:2", "ad:3"] && fixture.cells() == [404, 200, 200])
            try fixture.write(Self.keeper, isRestarted: isRestarted)
            #expect(try fixture.shown() == ["ad:2"] && fixture.cells() == [404, 200, 404])
            #expect(try service.get(link).status == 410)
            let seen = try service.ask("POST", "/events", body: #"{"events":[{"type":"impression","cell":"ad:1","token":"\#(token)"}]}"#)
            #expect(try JSON(seen.text)["results"]?[0]?["verdict"]?.text == "unknown")
            let told = try JSON(try service.admin("GET", "/admin/explain?limit=5").text)["excludedAdvertisements"]?.list ?? []
            #expect(
                told.first { $0["id"]?.text == "1" }?["reason"]?.text == #"it is for campaigns alone ("house": false), and none names it"#)
            #expect(try service.admin("PUT", "/admin/items/ad/1", with: ["If-Match: *"], body: Items.advertisement(1)).status == 200)
            #expect(try fixture.cells() == [200, 200, 404])
            // A campaign that names it is blocked then, and the others go on.
            try fixture.write("spring: {advertiser: ACME, creatives: [1, 3]}, \(Self.keeper)", isRestarted: isRestarted)
            #expect(try fixture.states() == ["spring": "blocked", "autumn": "running"])
            #expect(try fixture.cells() == [200, 200, 404])
        }
    }

    @Test("The ads of a removed campaign of the store are on no page, before and after a restart")
    func ofStore() async throws {
        try await offPool {
            var fixture = try Fixture(Self.keeper)
            let service = fixture.service
            let item = #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"]}"#
            #expect(try service.admin("PUT", "/admin/items/campaign/spring", body: item).status == 201)
            #expect(try fixture.shown() == ["ad:1", "ad:2"])
            #expect(try service.admin("DELETE", "/admin/items/campaign/spring").status == 204)
            for isRestarted in [false, true] {
                if isRestarted { try service.killAndRestart() }
                #expect(try fixture.shown() == ["ad:2"] && fixture.cells() == [404, 200, 404])
            }
            #expect(try service.admin("DELETE", "/admin/takedowns/campaign:spring").status == 204)
            #expect(try service.admin("PUT", "/admin/items/campaign/spring", body: item).status == 201)
            #expect(try fixture.shown() == ["ad:1", "ad:2"])
        }
    }

    @Test("A paused campaign shows and counts no ads until it resumes")
    func paused() async throws {
        try await offPool {
            let spring = "spring: {advertiser: ACME, creatives: [1], goal: {total: 100}"
            var fixture = try Fixture("\(spring)}, \(Self.keeper)")
            let page = try JSON(try fixture.service.get("/cells/ad:1").text)
            let link = try #require(page["actions"]?["selection"]?["href"]?.text)
            try fixture.write("\(spring), paused: true}, \(Self.keeper)", isRestarted: false)
            #expect(try fixture.states() == ["spring": "paused", "autumn": "running"])
            #expect(try fixture.shown() == ["ad:2"] && fixture.cells() == [404, 200, 404])
            let click = try fixture.service.get(link)
            #expect(click.status == 302 && click["X-Verdict"] == "late")
            try fixture.write("\(spring), paused: false}, \(Self.keeper)", isRestarted: false)
            #expect(try fixture.shown().contains("ad:1"))
            let item = #"{"kind":"campaign","id":"winter","advertiser":"ACME","creatives":["3"],"paused":true}"#
            #expect(try fixture.service.admin("PUT", "/admin/items/campaign/winter", body: item).status == 201)
            #expect(try !fixture.shown().contains("ad:3") && fixture.states()["winter"] == "paused")
            let wrong = item.replacing("true", with: "\"maybe\"")
            #expect(
                try fixture.service.admin("PUT", "/admin/items/campaign/winter", body: wrong).text.contains("paused: must be true or false")
            )
        }
    }
}
