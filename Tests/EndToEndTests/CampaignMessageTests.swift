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

    @Test("An explanation reports ad slots held by campaigns; a report lists campaigns without events")
    func explanations() async throws {
        try await offPool {
            let campaign = #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"]}"# + "\n"
            let service = try RunningService(
                items: Items.users(5) + Items.advertisements(2) + campaign, settings: [RunningService.tokenSetting])
            let told = try JSON(try service.admin("GET", "/admin/explain?limit=5").text)
            let reasons = (told["excludedAdvertisements"]?.list ?? []).map { $0["reason"]?.text ?? "" }
            #expect(reasons == ["campaigns have all ad slots of the feed, 1 on 1 page of this limit; no slot remains for house ads"])
            let report = try Command.run(
                ["report", "--config", service.configurationFile, "--database", service.database, "--by", "campaign"])
            #expect(report.lines.contains("the campaign 'spring': nothing counted on these days, 0 delivered in all"), "\(report.lines)")
        }
    }
}
