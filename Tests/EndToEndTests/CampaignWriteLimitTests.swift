import Foundation
import TestSupport
import Testing

@Suite("Rate limit of decisions that write, from outside", .timeLimit(.untilStuck))
struct CampaignWriteLimitTests {
    private static let campaign =
        #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"],"caps":[{"count":100,"window":"1d"}]}"# + "\n"

    private static func service() throws -> RunningService {
        try RunningService(
            items: Items.users(5) + Items.advertisements(2) + campaign,
            settings: [RunningService.tokenSetting, "limits.decisions-per-address=20"])
    }

    private static func ad(_ service: RunningService, _ viewer: String, from address: Int) throws -> String? {
        let fields = ["User-Agent: tests", "X-Viewer-ID: \(viewer)", "X-Forwarded-For: 203.0.113.\(address)"]
        let page = try service.get("/feed?limit=5", fields: fields)
        #expect(page.status == 200)
        return try JSON(page.text)["cells"]?.list.compactMap { $0["id"]?.text }.first { $0.hasPrefix("ad:") }
    }

    @Test("Beyond the rate limit, pages show house ads instead of capped campaigns without any write")
    func pages() async throws {
        try await offPool {
            let service = try Self.service()
            let ads = try (0..<80).map { try Self.ad(service, "v\($0)", from: 1) }
            // The bucket refills by one write in three seconds.
            let paid = ads.count { $0 == "ad:1" }
            #expect(ads.prefix(20).allSatisfy { $0 == "ad:1" } && (20...40).contains(paid) && ads.allSatisfy { $0 != nil }, "\(ads)")
            #expect(try Self.ad(service, "w", from: 2) == "ad:1", "other addresses have their own rate")
            if !RunningService.usesPostgreSQL {
                let rows = try SpawnedProcess([
                    "/usr/bin/sqlite3", "-cmd", ".timeout 5000", "\(service.folder)/intertwine.ledger.sqlite",
                    "SELECT count(*) FROM given_page",
                ])
                let line = try rows.nextLine(timeout: 30_000)
                #expect(line.flatMap { Int($0) } == paid + 1)
            }
            #expect(try Self.limited(service) == 80 - paid)
        }
    }

    @Test("Beyond the rate limit, the cell of a capped campaign returns 404")
    func cells() async throws {
        try await offPool {
            let service = try Self.service()
            let fields = ["User-Agent: tests", "X-Forwarded-For: 203.0.113.1"]
            let statuses = try (0..<40).map { try service.get("/cells/ad:1", fields: fields + ["X-Viewer-ID: v\($0)"]).status }
            #expect(statuses.prefix(20).allSatisfy { $0 == 200 } && statuses.contains(404), "\(statuses)")
            #expect(statuses.allSatisfy { [200, 404].contains($0) })
            #expect(try Self.limited(service) == statuses.count { $0 == 404 })
        }
    }

    private static func limited(_ service: RunningService) throws -> Int? {
        let prefix = "intertwine_campaign_limited_decisions_total "
        let line = try service.admin("GET", "/metrics").text.split(separator: "\n").first { $0.hasPrefix(prefix) }
        return line.flatMap { Int($0.dropFirst(prefix.count)) }
    }
}
