import Foundation
import TestSupport
import Testing

@Suite("Messages about campaigns and ids", .timeLimit(.untilStuck))
struct CampaignMessageTests {
    @Test("A failed import reports the file and line of the invalid item without any change")
    func imports() async throws {
        try await offPool {
            let folder = try FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: FileManager.default.temporaryDirectory, create: true
            ).path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let (campaigns, others) = ("\(folder)/campaigns.ndjson", "\(folder)/items.ndjson")
            try (Items.users(1) + Items.advertisements(1)).write(toFile: others, atomically: true, encoding: .utf8)
            func run(_ items: String, _ options: String...) throws -> [String] {
                try items.write(toFile: campaigns, atomically: true, encoding: .utf8)
                return try Command.run(
                    ["import", "--config", "/dev/null", "--database", "\(folder)/db.sqlite", campaigns, others] + options
                ).lines
            }
            func campaign(_ creatives: String) -> String {
                #"{"kind":"campaign","id":"spring","advertiser":"ACME"\#(creatives)}"# + "\n"
            }
            let unknown = "\(campaigns): line 1: creatives.0: the store has no ad '9'"
            #expect(try run(campaign(#","creatives":["9"]"#)) == ["Error: \(unknown); nothing was imported"])
            #expect(try run(campaign(#","creatives":["9"]"#), "--on-error", "skip").first == "\(unknown), skipped")
            for (item, field) in [
                (campaign(#","creatives":[]"#), "creatives"), (campaign(""), "creatives"), (Items.user("."), "id"),
                (Items.user(".."), "id"),
            ] {
                let lines = try run(item)
                #expect(lines.count == 1 && lines.first?.hasPrefix("Error: \(campaigns): line 1: \(field)") == true, "\(lines)")
                #expect(lines.first?.hasSuffix("; nothing was imported") == true, "\(lines)")
            }
        }
    }

    @Test("An explanation says why the campaign of an ad does not show it, and check-config names what has ended")
    func reasons() async throws {
        try await offPool {
            let campaigns = [
                "1": #""paused":true"#, "2": #""ends":"2020-01-01T00:00:00Z""#,
                "3": #""targeting":{"attributes":{"all":["a=1"],"none":["a=1"]}}"#,
                "4": #""targeting":{"locales":["fi"]}"#, "5": #""caps":[{"count":1,"window":"1h"}]"#,
                "6": #""starts":"2100-01-01T00:00:00Z""#,
            ]
            let lines = campaigns.sorted { $0.key < $1.key }.map {
                #"{"kind":"campaign","id":"c\#($0.key)","advertiser":"ACME","creatives":["\#($0.key)"],\#($0.value)}"# + "\n"
            }
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(6, reserved: Set(1...6)) + lines.joined(),
                settings: [RunningService.tokenSetting])
            let told = try JSON(try service.admin("GET", "/admin/explain?limit=5&languages=de").text)
            let found = (told["advertisements"]?.list ?? []).map { ($0["id"]?.text ?? "", $0["reason"]?.text ?? "") }
            let reasons = Dictionary(found) { first, _ in first }
            let expected = [
                "1": "the campaign c1: it is paused", "2": "the campaign c2: it has ended",
                "3": "the campaign c3: it is blocked: targeting: no viewer fits: 'a=1' is both required and excluded",
                "4": "the campaign c4: targeting: none of its locales is wanted",
                "5": "the campaign c5: capped: no viewer is named, so its caps cannot be enforced",
                "6": "the campaign c6: it has not started",
            ]
            for (id, reason) in expected { #expect(reasons[id]?.hasPrefix(reason) == true, "\(reasons)") }
            let check = try Command.run(["check-config", "--config", service.configurationFile, "--database", service.database])
            #expect(check.lines.contains("warning: the campaign 'c2' has ended"), "\(check.lines)")
        }
    }

    @Test("An explanation reports ad slots held by campaigns; a report lists campaigns without events")
    func explanations() async throws {
        try await offPool {
            let campaign = #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"]}"# + "\n"
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(2, reserved: [1]) + campaign, settings: [RunningService.tokenSetting])
            let told = try JSON(try service.admin("GET", "/admin/explain?limit=5").text)
            let reasons = (told["excludedAdvertisements"]?.list ?? []).map { $0["reason"]?.text ?? "" }
            #expect(reasons == ["campaigns have all ad slots of the feed, 1 on 1 page of this limit; no slot remains for house ads"])
            let report = try Command.run(
                ["report", "--config", service.configurationFile, "--database", service.database, "--by", "campaign"])
            #expect(report.lines.contains("the campaign 'spring': nothing counted on these days, 0 delivered in all"), "\(report.lines)")
        }
    }
}
