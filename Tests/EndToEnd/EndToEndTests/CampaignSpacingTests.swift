import Foundation
import TestSupport
import Testing

@Suite("Ad spacing from outside", .timeLimit(.untilStuck))
struct CampaignSpacingTests {
    private static func campaign(_ id: String, _ creatives: String, _ members: String = "") -> String {
        #"{"kind":"campaign","id":"\#(id)","advertiser":"ACME","creatives":[\#(creatives)]\#(members)}"# + "\n"
    }

    /// The number of times that each ad is shown in a pagination session.
    private static func impressions(limit: Int, viewer: String?, _ service: RunningService) throws -> [String: Int] {
        let fields = ["User-Agent: tests"] + (viewer.map { ["X-Viewer-ID: \($0)"] } ?? [])
        var (counts, next): ([String: Int], String?) = ([:], "/feed?limit=\(limit)")
        while let path = next {
            let page = try JSON(try service.get(path, fields: fields).text)
            for item in page["cells"]?.list ?? [] {
                guard let id = item["id"]?.text, id.hasPrefix("ad:") else { continue }
                counts[String(id.prefix { $0 != "#" }), default: 0] += 1
            }
            next = page["page"]?["next"]?.text
        }
        return counts
    }

    @Test(
        "The number of ads per campaign is independent of the client's page limit",
        arguments: [(["ads.min-distance=1"], 23), (["ads.min-distance=12"], 8)])
    func limits(settings: [String], most: Int) async throws {
        try await offPool {
            // Without campaigns all ads are house ads.
            func items(_ reserved: Set<Int>) -> String { Items.users(118) + Items.advertisements(4, reserved: reserved) }
            let sponsorship = Self.campaign("spring", #""1""#, #","priority":"sponsorship""#)
            let both = Self.campaign("a", #""1""#) + Self.campaign("b", #""2","3""#)
            for (campaigns, reserved) in [(sponsorship, Set([1])), (both, Set([1, 2, 3])), ("", Set())] {
                let service = try RunningService(
                    items: items(reserved) + campaigns, settings: ["ads.placement=every 5", RunningService.tokenSetting] + settings)
                for viewer in ["ann", nil] {
                    let found = try [5, 20, 100].map { try Self.impressions(limit: $0, viewer: viewer, service) }
                    for id in Set(found.flatMap(\.keys)) {
                        let counts = found.map { $0[id] ?? 0 }
                        let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
                        // Without a viewer name, each session has a separate random choice.
                        let isEqual = viewer == nil ? most - least <= 1 || 10 * most <= 11 * least : most == least
                        #expect(isEqual, "\(id): \(counts)")
                    }
                    if campaigns == sponsorship { #expect(found.allSatisfy { $0["ad:1"] == most }, "\(found)") }
                }
                let told = try JSON(try service.admin("GET", "/admin/explain?viewer=ann&limit=100").text)
                let ads =
                    told["cells"]?.list.compactMap { $0["cell"]?.text.map { String($0.prefix { $0 != "#" }) } }.filter {
                        $0.hasPrefix("ad:")
                    } ?? []
                let page = try JSON(try service.get("/feed?limit=100", fields: ["User-Agent: tests", "X-Viewer-ID: ann"]).text)
                let shown = page["cells"]?.list.compactMap { $0["id"]?.text.map { String($0.prefix { $0 != "#" }) } }.filter {
                    $0.hasPrefix("ad:")
                }
                #expect(ads == shown && ads.isEmpty == false)
            }
        }
    }

    @Test("A forecast applies the same minimum distance as the service")
    func forecast() async throws {
        try await offPool {
            let folder = try FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: FileManager.default.temporaryDirectory, create: true
            ).path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let file = "\(folder)/campaigns.yaml"
            try "campaigns:\n  spring: {advertiser: ACME, creatives: [1]}\n".write(toFile: file, atomically: true, encoding: .utf8)
            func delivered(limit: Int, pages: Int, _ settings: String...) throws -> Int {
                let options = ["--set", "ads.placement=every 5"] + settings.flatMap { ["--set", $0] }
                let result = try Command.run(
                    [
                        "forecast", "--config", "/dev/null", "--campaigns", file, "--viewers", "1", "--days", "1", "--limit", "\(limit)",
                        "--requests", "\(pages)", "--format", "json",
                    ] + options)
                return try JSON(result.lines.joined())["campaigns"]?[0]?["delivered"]?.number.map { Int($0) } ?? -1
            }
            // 120 items give 23 ad slots; every third slot has the minimum distance.
            #expect(try [delivered(limit: 5, pages: 24), delivered(limit: 20, pages: 6), delivered(limit: 60, pages: 2)] == [23, 23, 23])
            #expect(try delivered(limit: 5, pages: 24, "ads.min-distance=12") == 8)
            #expect(try delivered(limit: 60, pages: 2, "ads.min-distance=12") == 8)
        }
    }
}
