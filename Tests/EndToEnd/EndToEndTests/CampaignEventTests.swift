import Foundation
import TestSupport
import Testing

@Suite("Events on campaign ads without a page token, from outside", .timeLimit(.untilStuck))
struct CampaignEventTests {
    private static let kinds = """
        kinds:
          promo:
            lane: advertisements
            fields: {title: {type: text, required: true}, url: {type: url, required: true}}
            destination: url
            cells: {collection: {identifier: PromoCell, size: 300x160, bind: {title: {text: title}}}}
            actions:
              selection: [analytics, clickthrough]
              impression: [analytics]
              like: [analytics, save]
              keep: [save]
              buy: [analytics, clickthrough]

        """

    private static func campaign(_ members: String) -> String {
        #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1","promo:1"]\#(members)}"# + "\n"
    }

    private static func promo(house: Bool) -> String {
        #"{"kind":"promo","id":"1","title":"A","url":"https://example.com/","house":\#(house)}"# + "\n"
    }

    /// The counts by ad and by campaign.
    private static func reports(_ service: RunningService) throws -> [[String: [String: Int]]] {
        try ["ad", "campaign"].map { grouping in
            let rows = try JSON(try service.admin("GET", "/admin/reports?by=\(grouping)").text)["rows"]?.list ?? []
            return Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    let counts = row["counts"]?.value as? [String: Any] ?? [:]
                    return (row[grouping]?.text ?? "", counts.compactMapValues { ($0 as? NSNumber)?.intValue })
                })
        }
    }

    private static func sum(_ report: [String: [String: Int]]) -> [String: Int] {
        report.values.reduce(into: [:]) { $0.merge($1) { $0 + $1 } }
    }

    @Test(
        "Events count for a running campaign only, and reports by ad and campaign agree",
        arguments: [true, false])
    func events(isRunning: Bool) async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Self.kinds.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(1, reserved: [1]),
                settings: [RunningService.tokenSetting, "events.report-verdict=true", "kinds.file=\(folder)/kinds.yaml"])
            #expect(try service.admin("PUT", "/admin/items/promo/1", body: Self.promo(house: false)).status == 201)
            let dates = isRunning ? "" : #","starts":"2030-01-01T00:00:00Z""#
            #expect(try service.admin("PUT", "/admin/items/campaign/spring", body: Self.campaign(dates)).status == 201)
            let fields = ["User-Agent: tests", "X-Viewer-ID: ann"]
            let verdict = isRunning ? "counted" : "late"
            for path in ["/cells/ad:1/dismissal", "/cells/promo:1/like", "/cells/promo:1/keep"] {
                let response = try service.ask("POST", path, fields: fields)
                #expect(response.status == 200 && response["X-Verdict"] ?? verdict == verdict, "\(path) \(response.text)")
                let undo = try #require(try JSON(response.text)["undo"]?["href"]?.text)
                #expect(try service.ask("DELETE", undo, fields: fields).status == 200)
            }
            #expect(try service.ask("POST", "/cells/promo:1/like", fields: fields).status == 200)
            #expect(try service.ask("DELETE", "/saved/promo:1", fields: fields).status == 200)
            // No event of an action with a clickthrough counts without a token.
            let bought = try service.ask("POST", "/cells/promo:1/buy", fields: fields)
            #expect(bought.status == 200 && bought["X-Verdict"] == "no-token")
            let reports = try Self.reports(service)
            let expected =
                isRunning
                ? [
                    "ad:1": ["dismissal": 1, "undo": 1], "promo:1": ["like": 2, "save": 3, "undo": 3],
                ] : [:]
            #expect(reports[0] == expected, "\(reports)")
            #expect(Self.sum(reports[0]) == Self.sum(reports[1]) && Set(reports[1].keys) == (isRunning ? ["spring"] : []), "\(reports)")
        }
    }

    @Test("The cells of an ad with a companion count one impression for their slot", arguments: [true, false], [nil, "ann"])
    func companion(hasCampaign: Bool, viewer: String?) async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let cells = """
                {collection: [{identifier: PromoCell, size: 300x160, bind: {title: {text: title}}}, \
                {identifier: NotesCell, companion: notes, size: 300x40, bind: {title: {text: title}}}]}
                """
            let kinds = Self.kinds.replacing(
                "{collection: {identifier: PromoCell, size: 300x160, bind: {title: {text: title}}}}", with: cells)
            try kinds.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
            let service = try RunningService(
                items: Items.users(3), settings: [RunningService.tokenSetting, "kinds.file=\(folder)/kinds.yaml"])
            #expect(try service.admin("PUT", "/admin/items/promo/1", body: Self.promo(house: !hasCampaign)).status == 201)
            if hasCampaign {
                let campaign = Self.campaign("").replacing(#""1","promo:1""#, with: #""promo:1""#)
                #expect(try service.admin("PUT", "/admin/items/campaign/spring", body: campaign).status == 201)
            }
            let fields = ["User-Agent: tests"] + (viewer.map { ["X-Viewer-ID: \($0)"] } ?? [])
            let page = try JSON(try service.get("/feed", fields: fields).text)
            let shown = page["cells"]?.list.filter { $0["id"]?.text?.hasPrefix("promo:1") ?? false } ?? []
            #expect(shown.compactMap { $0["id"]?.text } == ["promo:1", "promo:1#notes"])
            let events = try shown.reversed().map { cell in
                let token = try #require(cell["actions"]?["impression"]?["body"]?["events"]?[0]?["token"]?.text)
                return #"{"type":"impression","cell":"\#(cell["id"]?.text ?? "")","token":"\#(token)"}"#
            }
            let body = #"{"events":[\#(events.joined(separator: ","))]}"#
            func verdicts() throws -> [String] {
                let response = try JSON(try service.ask("POST", "/events", fields: fields, body: body).text)
                return response["results"]?.list.compactMap { $0["verdict"]?.text } ?? []
            }
            if hasCampaign {
                // A kind without a condition of its own is viewable after a second.
                #expect(try verdicts() == ["too-early", "too-early"])
                Thread.sleep(forTimeInterval: 1.1)
            }
            #expect(try verdicts() == ["counted", "duplicate"])
            let reports = try Self.reports(service)
            #expect(Array(reports[0].keys) == ["promo:1"])
            #expect(reports.allSatisfy { Self.sum($0) == ["impression": 1] }, "\(reports)")
            guard hasCampaign else { return }
            let campaigns = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]
            #expect(campaigns?[0]?["delivered"]?.number == 1)
        }
    }

    @Test("An undone event on a house ad is in reports by ad and by campaign")
    func houseAd() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            let fields = ["User-Agent: tests", "X-Viewer-ID: ann"]
            let response = try service.ask("POST", "/cells/ad:1/dismissal", fields: fields)
            let undo = try #require(try JSON(response.text)["undo"]?["href"]?.text)
            #expect(try service.ask("DELETE", undo, fields: fields).status == 200)
            #expect(try Self.reports(service) == [["ad:1": ["dismissal": 1, "undo": 1]], ["": ["dismissal": 1, "undo": 1]]])
        }
    }
}
