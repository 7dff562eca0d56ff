import Foundation
import TestSupport
import Testing

/// Campaign ads are shown and counted only by a decision for the viewer.
@Suite("Reach of campaign ads, from outside", .timeLimit(.untilStuck))
struct CampaignReachTests {
    /// The impression event and the click link of an ad's cell.
    private struct Tokens {
        var event: String
        var link: String

        init(_ cell: JSON?) throws {
            let token = try #require(cell?["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text)
            event = #"{"events":[{"type":"impression","cell":"\#(try #require(cell?["id"]?.text))","token":"\#(token)"}]}"#
            link = try #require(cell?["actions"]?["selection"]?["href"]?.text)
        }
    }

    private static func spring(_ members: String) -> String {
        #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"]\#(members)}"# + "\n"
    }

    private static func service(_ items: String = "", reserved: Set<Int> = [1]) throws -> RunningService {
        try RunningService(
            items: Items.users(5) + Items.advertisements(2, reserved: reserved) + items,
            settings: [RunningService.tokenSetting, "events.report-verdict=true", "viewers.attributes-header=X-Attributes"])
    }

    private static func fields(_ viewer: String, _ more: [String] = []) -> [String] {
        ["User-Agent: tests", "X-Viewer-ID: \(viewer)"] + more
    }

    private static func onPage(_ service: RunningService, _ viewer: String, _ more: [String] = []) throws -> Tokens {
        let page = try JSON(try service.get("/feed?limit=5", fields: fields(viewer, more)).text)
        return try Tokens(page["cells"]?.list.first { $0["id"]?.text == "ad:1" })
    }

    private static func cell(_ service: RunningService, _ viewer: String, _ more: [String] = []) throws -> Tokens {
        let response = try service.get("/cells/ad:1", fields: fields(viewer, more))
        #expect(response.status == 200 && response["Cache-Control"]?.contains("private") == true)
        return try Tokens(try JSON(response.text))
    }

    /// The verdicts of an impression and of a click by a link.
    private static func count(_ tokens: Tokens, _ service: RunningService, _ viewer: String) throws -> [String?] {
        let event = try JSON(try service.ask("POST", "/events", fields: fields(viewer), body: tokens.event).text)
        return [event["results"]?[0]?["verdict"]?.text, try service.get(tokens.link, fields: fields(viewer))["X-Verdict"]]
    }

    /// Total counted impressions and clicks by ad and by campaign.
    private static func reports(_ service: RunningService) throws -> [[String: [Int]]] {
        try ["ad", "campaign"].map { grouping in
            let report = try JSON(try service.admin("GET", "/admin/reports?by=\(grouping)").text)
            return Dictionary(
                uniqueKeysWithValues: (report["rows"]?.list ?? []).map { row in
                    (row[grouping]?.text ?? "", ["impressions", "clicks"].map { Int(row[$0]?.number ?? 0) })
                }
            ).filter { $0.value != [0, 0] }
        }
    }

    @Test(
        "The ad of an inactive or mismatched campaign returns 404, and its tokens are late",
        arguments: [
            #","starts":"2030-01-01T00:00:00Z""#, #","ends":"2020-01-01T00:00:00Z""#, #","targeting":{"attributes":{"all":["plan=paid"]}}"#,
            #","targeting":{"locales":["de"]}"#,
        ])
    func notThere(members: String) async throws {
        try await offPool {
            let service = try Self.service(reserved: [])
            // Tokens from the time as a house ad.
            let old = [try Self.onPage(service, "ann"), try Tokens(try JSON(try service.get("/cells/ad:1").text))]
            #expect(try service.ask("POST", "/cells/ad:1/dismissal", fields: Self.fields("eve")).status == 200)
            func dismissed() throws -> [String] {
                (try JSON(try service.get("/dismissed", fields: Self.fields("eve")).text)["cells"]?.list ?? []).compactMap {
                    $0["id"]?.text
                }
            }
            #expect(try dismissed() == ["ad:1"])
            _ = try service.importItems(Items.advertisement(1, house: false) + Self.spring(members))
            for viewer in ["ann", "bob"] { #expect(try service.get("/cells/ad:1", fields: Self.fields(viewer)).status == 404) }
            #expect(try service.get("/cells/ad:1").status == 404)
            #expect(try service.get("/cells/ad:2").status == 200)
            #expect(try dismissed() == [])
            for tokens in old { #expect(try Self.count(tokens, service, "ann") == ["late", "late"]) }
            // The link still redirects.
            #expect(try service.get(old[0].link, fields: Self.fields("ann")).status == 302)
            #expect(try Self.reports(service) == [[:], [:]])
        }
    }

    @Test("A single ad of a targeted viewer counts for the campaign, and reports agree")
    func targeted() async throws {
        try await offPool {
            let members = #","targeting":{"locales":["de"]},"disclosure":{"label":"Anzeige"}"#
            let service = try Self.service(Self.spring(members))
            let german = ["Accept-Language: de"]
            #expect(try service.get("/cells/ad:1", fields: Self.fields("ann")).status == 404)
            #expect(try service.get("/cells/ad:1", fields: Self.fields("ann", german)).text.contains("Anzeige"))
            #expect(try Self.count(try Self.cell(service, "ann", german), service, "ann") == ["counted", "counted"])
            #expect(try Self.count(try Self.onPage(service, "ann", german), service, "ann") == ["counted", "duplicate"])
            #expect(try Self.count(try Self.onPage(service, "bob", german), service, "bob") == ["counted", "counted"])
            #expect(try Self.reports(service) == [["ad:1": [3, 2]], ["spring": [3, 2]]])
        }
    }

    @Test("A single ad uses the campaign's goal and caps, with the same decision on repetition")
    func places() async throws {
        try await offPool {
            let service = try Self.service(Self.spring(#","goal":{"total":2},"caps":[{"count":1,"window":"1d"}]"#))
            let first = try Self.cell(service, "ann")
            #expect(try Self.cell(service, "ann").event == first.event)
            // First the cap is used up, then the goal.
            let page = try JSON(try service.get("/feed?limit=5", fields: Self.fields("ann")).text)
            #expect(page["cells"]?.list.contains { $0["id"]?.text == "ad:1" } == false)
            let second = try Self.onPage(service, "bob")
            #expect(try service.get("/cells/ad:1", fields: Self.fields("bob")).status == 404)
            #expect(try Self.count(first, service, "ann") == ["counted", "counted"])
            #expect(try Self.count(second, service, "bob") == ["counted", "counted"])
            #expect(try Self.reports(service) == [["ad:1": [2, 2]], ["spring": [2, 2]]])
        }
    }

    @Test("Tokens from before the end of a campaign do not count after its end")
    func endedMeanwhile() async throws {
        try await offPool {
            let service = try Self.service(Self.spring(""))
            let tokens = try (0..<3).map { try Self.onPage(service, "v\($0)") }
            #expect(try Self.count(tokens[0], service, "v0") == ["counted", "counted"])
            let put = try service.admin(
                "PUT", "/admin/items/campaign/spring", with: ["If-Match: *"], body: Self.spring(#","ends":"2020-01-01T00:00:00Z""#))
            #expect(put.status == 200)
            #expect(try Self.count(tokens[1], service, "v1") == ["late", "late"])
            #expect(try Self.reports(service) == [["ad:1": [1, 1]], ["spring": [1, 1]]])
            #expect(try service.admin("DELETE", "/admin/items/campaign/spring").status == 204)
            #expect(try Self.count(tokens[2], service, "v2") == ["unknown", nil])
            #expect(try service.get(tokens[2].link, fields: Self.fields("v2")).status == 410)
            #expect(try Self.reports(service) == [["ad:1": [1, 1]], ["spring": [1, 1]]])
        }
    }
}
