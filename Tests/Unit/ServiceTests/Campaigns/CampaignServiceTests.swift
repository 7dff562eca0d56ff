import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Campaigns of a service")
struct CampaignServiceTests {
    private static func items(_ campaigns: String...) -> String {
        let users = (0..<30).map {
            #"{"kind":"user","id":"u\#($0)","username":"U","avatarUrl":"https://img.example/\#($0).png","type":"regular"}"#
        }
        let ads = (1...3).map { number in
            let isReserved = number == 2 || campaigns.contains { $0.contains(#"["\#(number)"]"#) }
            return #"{"kind":"ad","id":\#(number),"contentUrl":"https://ads.example/\#(number).png","house":\#(!isReserved),"#
                + #""clickthroughUrl":"https://shop.example/\#(number)","type":"image"}"#
        }
        return (users + ads + campaigns).joined(separator: "\n") + "\n"
    }

    private static func campaign(_ id: String, _ creative: Int, _ members: String = "") -> String {
        #"{"kind":"campaign","id":"\#(id)","advertiser":"ACME","creatives":["\#(creative)"]\#(members)}"#
    }

    /// The ad of a page with its impression token and its link.
    private static func advertisement(_ page: TestResponse) throws -> (cell: String, token: String, link: String)? {
        guard let seen = page.text.firstMatch(of: /"cell":"(ad:[^"]+)","token":"([^"]+)"/) else { return nil }
        let link = try #require(page.text.firstMatch(of: /"href":"(\/click\/[^"]+)"/)).1
        return (String(seen.1), String(seen.2), String(link))
    }

    private static func see(_ seen: (cell: String, token: String, link: String), _ service: TestService) async throws {
        // A cell is viewable after a second.
        service.clock.advance(by: .seconds(1))
        let answer = try await service.client.post(
            "/events", fields: ["User-Agent": "tests", "Content-Type": "application/json"],
            body: #"{"events":[{"type":"impression","cell":"\#(seen.cell)","token":"\#(seen.token)"}]}"#)
        #expect(answer.text.contains("counted"), "\(answer.text)")
    }

    /// The ids of all campaigns in list order, and the number of pages.
    private static func campaigns(_ service: TestService, limit: Int) async throws -> (ids: [String], pages: Int) {
        struct Listed: Decodable {
            struct Row: Decodable { var campaign: String }
            struct Page: Decodable { var next: String? }
            var campaigns: [Row]
            var page: Page
        }
        var (ids, pages, href) = ([String](), 0, String?.some("/admin/campaigns?limit=\(limit)"))
        while let path = href {
            let answer = try await service.operators.get(path)
            let listed = try JSONDecoder().decode(Listed.self, from: Data(answer.text.utf8))
            ids += listed.campaigns.map(\.campaign)
            pages += 1
            href = listed.page.next
            #expect(answer["Link"] == href.map { "<\($0)>; rel=\"next\"" })
        }
        return (ids, pages)
    }

    @Test("A campaign fills ad slots until its goal is reached; house ads follow")
    func delivers() async throws {
        let goal = #","goal":{"total":3},"disclosure":{"label":"Sponsored"}"#
        try await TestService.run(items: Self.items(Self.campaign("spring", 2, goal))) { service in
            for number in 0..<3 {
                if number == 2 {
                    // The single ad reserves the last place of the campaign's goal.
                    let cell = try await service.client.get("/cells/ad:2")
                    #expect(cell.text.contains(#""disclosure":{"type":"disclosure","label":"Sponsored""#))
                    #expect(cell["Cache-Control"] == "private, no-cache")
                    try await Self.see(try #require(try Self.advertisement(cell)), service)
                    break
                }
                let page = try await service.client.get("/feed")
                let shown = try #require(try Self.advertisement(page))
                #expect(shown.cell == "ad:2" && page["Cache-Control"] == "private, no-cache")
                #expect(page.text.contains(#""disclosure":{"type":"disclosure","label":"Sponsored","advertiser":"ACME"}"#))
                try await Self.see(shown, service)
            }
            #expect(try await service.client.get("/cells/ad:2").status == 404)
            var house: Set<String> = []
            for number in 0..<20 {
                let page = try await service.client.get("/feed", fields: ["X-Viewer-ID": "v\(number)"])
                house.insert(try #require(try Self.advertisement(page)).cell)
                #expect(page.text.contains(#""disclosure":{"type":"disclosure","label":"Advertisement","advertiser":""}"#))
            }
            #expect(house == ["ad:1", "ad:3"])
            let told = try await service.operators.get("/admin/campaigns").text
            #expect(told.contains(#""delivered":3"#) && told.contains(#""state":"reached""#), "\(told)")
            let table = try await service.operators.get("/admin/campaigns?format=csv")
            #expect(table["Content-Type"]?.hasPrefix("text/csv") == true)
            #expect(table.text.contains("\r\nspring,ACME,standard,reached,,,impressions,3,,3,,3,3,0,"), "\(table.text)")
            let why = try await service.operators.get("/admin/explain").text
            #expect(why.contains(#"{"campaign":"spring","reason":"its goal is reached"}"#), "\(why)")
        }
    }

    @Test("A viewer's page is the same on repetition, and the campaign respects the viewer's cap")
    func caps() async throws {
        let cap = #","caps":[{"count":1,"window":"1h"}]"#
        try await TestService.run(items: Self.items(Self.campaign("spring", 2, cap))) { service in
            let ann = ["X-Viewer-ID": "ann"]
            let page = try await service.client.get("/feed?limit=5", fields: ann)
            #expect(try await service.client.get("/feed?limit=5", fields: ann).body == page.body)
            let shown = try #require(try Self.advertisement(page))
            #expect(shown.cell == "ad:2")
            service.clock.advance(by: .seconds(1))
            let seen = try await service.client.post(
                "/events", fields: ["User-Agent": "tests", "X-Viewer-ID": "ann", "Content-Type": "application/json"],
                body: #"{"events":[{"type":"impression","cell":"ad:2","token":"\#(shown.token)"}]}"#)
            #expect(seen.text.contains("counted"))
            service.clock.advance(by: .seconds(1_800))
            #expect(try Self.advertisement(await service.client.get("/feed?limit=5", fields: ann))?.cell != "ad:2")
            #expect(try Self.advertisement(await service.client.get("/feed?limit=5"))?.cell != "ad:2")
            service.clock.advance(by: .seconds(1_900))
            #expect(try Self.advertisement(await service.client.get("/feed?limit=5", fields: ann))?.cell == "ad:2")
        }
    }

    @Test("A new campaign is on the next page; a removed campaign is on no page")
    func comesAndGoes() async throws {
        try await TestService.run(items: Self.items()) { service in
            let before = try await service.client.get("/feed")
            #expect(before["Cache-Control"]?.contains("private") == false)
            let body = Self.campaign("spring", 2, #","targeting":{"attributes":{"any":["plan=free"]}}"#)
            let put = try await service.operators.put(
                "/admin/items/campaign/spring", fields: ["Content-Type": "application/json"], body: body)
            #expect(put.status == 201 || put.status == 200 || put.status == 204, "\(put.status) \(put.text)")
            let page = try await service.client.get("/feed", fields: ["X-Attributes": "plan=free"])
            #expect(try Self.advertisement(page)?.cell == "ad:2")
            #expect(try Self.advertisement(await service.client.get("/feed"))?.cell != "ad:2")
            let gone = try await service.operators.delete("/admin/items/campaign/spring", fields: ["If-Match": "*"])
            #expect(gone.status == 204, "\(gone.status) \(gone.text)")
            #expect(try Self.advertisement(await service.client.get("/feed", fields: ["X-Attributes": "plan=free"]))?.cell != nil)
            let after = try await service.client.get("/feed")
            #expect(after["Cache-Control"]?.contains("private") == false)
        } settings: {
            $0["viewers.attributes-header"] = "X-Attributes"
        }
    }

    @Test("A declared robot without a viewer name gets house ads and no offer")
    func robots() async throws {
        try await TestService.run(items: Self.items(Self.campaign("spring", 2, #","goal":{"total":3}"#))) { service in
            let robot = ["User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"]
            for _ in 0..<5 { #expect(try Self.advertisement(await service.client.get("/feed", fields: robot))?.cell != "ad:2") }
            let told = try await service.operators.get("/admin/campaigns").text
            #expect(told.contains(#""offers":0"#), "\(told)")
            let named = robot.merging(["X-Viewer-ID": "ann"]) { $1 }
            #expect(try Self.advertisement(await service.client.get("/feed", fields: named))?.cell == "ad:2")
            #expect(try Self.advertisement(await service.client.get("/feed", fields: ["User-Agent": "okhttp/4.12"]))?.cell == "ad:2")
        }
    }

    @Test("An explanation predicts the ads of later pages under a cap, with form-encoded attributes")
    func looksAhead() async throws {
        let members = #","priority":"sponsorship","caps":[{"count":1,"window":"1d"}],"targeting":{"attributes":{"all":["country=DE"]}}"#
        try await TestService.run(items: Self.items(Self.campaign("spring", 2, members), Self.campaign("autumn", 3))) { service in
            let fields = ["X-Viewer-ID": "ann", "X-Attributes": "plan=free, country=DE"]
            let asked = "viewer=ann&limit=5&attributes=plan%3Dfree%2C+country%3DDE"
            func explained() async throws -> [String] {
                let text = try await service.operators.get("/admin/explain?\(asked)").text
                let ads = try JSONDecoder().decode(Explained.self, from: Data(text.utf8)).advertisements
                return ads.map { "\($0.id): \($0.page.map(String.init) ?? "none")" }
            }
            #expect(try await explained() == ["1: none", "2: 1", "3: 2"])
            var shown: [String] = []
            var next: String? = "/feed?limit=5"
            for _ in 0..<3 {
                guard let path = next else { break }
                let page = try await service.client.get(path, fields: fields)
                shown.append(try #require(try Self.advertisement(page)).cell)
                #expect(try await explained() == ["1: none", "2: 1", "3: 2"])
                next = page.text.firstMatch(of: /"next":"([^"]+)"/).map { String($0.1) }
            }
            #expect(shown == ["ad:2", "ad:3", "ad:3"])
        } settings: {
            $0["viewers.attributes-header"] = "X-Attributes"
        }
    }

    private struct Explained: Decodable {
        struct Advertisement: Decodable {
            var id: String
            var page: Int?
        }

        var advertisements: [Advertisement]
    }

    @Test("A store accepts at most 10,000 campaigns; an existing campaign can still be replaced", .onlyInFull)
    func limit() async throws {
        let campaigns = (1...10_000).map { Self.campaign("c\($0)", 1) }.joined(separator: "\n")
        try await TestService.run(items: Self.items(campaigns)) { service in
            let json = ["Content-Type": "application/json"]
            let one = try await service.operators.put("/admin/items/campaign/more", fields: json, body: Self.campaign("more", 2))
            #expect(one.status == 422 && one.text.contains("the limit of 10000 campaigns is reached"), "\(one.text)")
            let appended = try await service.operators.post(
                "/admin/operations", fields: json, body: #"{"operations":[{"append":\#(Self.campaign("more", 2))}]}"#)
            #expect(appended.status == 422 && appended.text.contains("Operation 0"), "\(appended.text)")
            let imported = try await service.operators.post(
                "/admin/items", fields: ["Content-Type": "application/x-ndjson"],
                body: Self.campaign("c1", 2) + "\n" + Self.campaign("more", 2) + "\n")
            #expect(imported.status == 422 && imported.text.contains("the limit of 10000 campaigns is reached"), "\(imported.text)")
            #expect(imported.text.contains("line 2: kind"), "\(imported.text)")
            let anew = try await service.operators.put(
                "/admin/items/campaign/c9999", fields: ["Content-Type": "application/json", "If-Match": "*"],
                body: Self.campaign("c9999", 2))
            #expect(anew.status == 200, "\(anew.text)")
            let listed = try await Self.campaigns(service, limit: 1_000)
            #expect(listed.pages == 10 && listed.ids.count == 10_000 && Set(listed.ids).count == 10_000 && listed.ids.contains("c10000"))
        }
    }

    @Test("The token of a campaign's ad slot counts once for all viewers")
    func countsOnce() async throws {
        try await TestService.run(items: Self.items(Self.campaign("spring", 2, #","goal":{"total":5}"#))) { service in
            let shown = try #require(try Self.advertisement(try await service.client.get("/feed", fields: ["X-Viewer-ID": "a"])))
            #expect(shown.cell == "ad:2")
            let other = try #require(try Self.advertisement(try await service.client.get("/feed", fields: ["X-Viewer-ID": "b"])))
            #expect(other.cell == "ad:2" && other.token != shown.token)
            func see(_ token: String, by viewer: String?) async throws -> String {
                var fields = ["User-Agent": "tests", "Content-Type": "application/json"]
                fields["X-Viewer-ID"] = viewer
                return try await service.client.post(
                    "/events", fields: fields, body: #"{"events":[{"type":"impression","cell":"ad:2","token":"\#(token)"}]}"#
                ).text
            }
            service.clock.advance(by: .seconds(1))
            #expect(try await see(shown.token, by: "a").contains("counted"))
            for viewer in ["a", "c", "d", nil] { #expect(try await see(shown.token, by: viewer).contains("duplicate")) }
            #expect(try await see(other.token, by: "b").contains("counted"))
            #expect(try await service.operators.get("/admin/campaigns").text.contains(#""delivered":2"#))
        }
    }

    @Test("Another limit, another layout or a shared link does not count an ad slot twice")
    func countsPlaces() async throws {
        let goals = [
            Self.campaign("spring", 2, #","goal":{"total":5}"#), Self.campaign("clicks", 3, #","goal":{"unit":"clicks","total":5}"#),
        ]
        for (campaign, cell) in zip(goals, ["ad:2", "ad:3"]) {
            try await TestService.run(items: Self.items(campaign)) { service in
                var link = ""
                for query in ["limit=4", "limit=8", "limit=4&layout=table", "limit=20"] {
                    let shown = try #require(
                        try Self.advertisement(try await service.client.get("/feed?\(query)", fields: ["X-Viewer-ID": "a"])))
                    #expect(shown.cell == cell)
                    link = shown.link
                    service.clock.advance(by: .seconds(1))
                    _ = try await service.client.post(
                        "/events", fields: ["User-Agent": "tests", "Content-Type": "application/json", "X-Viewer-ID": "a"],
                        body: #"{"events":[{"type":"impression","cell":"\#(shown.cell)","token":"\#(shown.token)"}]}"#)
                }
                for viewer in 0..<5 {
                    _ = try await service.client.get(link, fields: ["User-Agent": "tests", "X-Viewer-ID": "v\(viewer)"])
                }
                let told = try await service.operators.get("/admin/campaigns").text
                #expect(told.contains(#""delivered":1,"#), "\(told)")
            }
        }
    }

    @Test("A campaign may only name ads in the store or in the same request")
    func creatives() async throws {
        try await TestService.run(items: Self.items()) { service in
            func put(_ creative: Int) async throws -> TestResponse {
                try await service.operators.put(
                    "/admin/items/campaign/spring", fields: ["Content-Type": "application/json", "If-None-Match": "*"],
                    body: #"{"advertiser":"ACME","creatives":["\#(creative)"]}"#)
            }
            let refused = try await put(9)
            #expect(refused.status == 422 && refused.text.contains("creatives.0: the store has no ad '9'"), "\(refused.text)")
            #expect(refused.text.contains(#""pointer":"/creatives/0","code":"conflict""#), "\(refused.text)")
            let house = try await put(1)
            #expect(house.status == 422 && house.text.contains("creatives.0: '1' is a house ad"), "\(house.text)")
            #expect(try await put(2).status == 201)
            func operate(_ operations: String...) async throws -> TestResponse {
                try await service.operators.post(
                    "/admin/operations", fields: ["Content-Type": "application/json"],
                    body: #"{"operations":[\#(operations.joined(separator: ","))]}"#)
            }
            let append = #"{"append":\#(Self.campaign("summer", 9))}"#
            let wrong = try await operate(#"{"remove":"user:u1"}"#, append)
            #expect(wrong.status == 422 && wrong.text.contains("Operation 1, counted from 0: creatives.0"), "\(wrong.text)")
            let ad =
                #"{"kind":"ad","id":9,"contentUrl":"https://a.example/","clickthroughUrl":"https://b.example/","type":"image","house":false}"#
            #expect(try await operate(append, #"{"append":\#(ad)}"#).status == 200)
        }
    }

    @Test("A campaign file with faults is refused completely, with the line of each fault")
    func file() throws {
        let text = """
            campaigns:
              spring:
                advertiser: ACME
                creatives: [1]
                starts: 2026-12-01T00:00:00Z
                ends: 2026-11-01T00:00:00Z
              summer:
                advertiser: ACME
                creatives: [1]
                targeting:
                  sections: [bottom]
                caps:
                  - count: 2
              winter:
                id: autumn
                zone: CET
                starts: 2026-12-01t00:00:00z
                advertiser: ACME
                creatives: [1, "user:u1"]
            """
        let error = #expect(throws: ConfigurationError.self) {
            try CampaignsFile(
                YAMLFile.root(of: text, from: "c.yaml"), targets: ValidTargets(feeds: ["main"], sections: ["main"]),
                creatives: CreativeNames())
        }
        #expect(
            error?.reasons == [
                "c.yaml:6:5: spring: ends: must be after starts",
                "c.yaml:13:9: summer: caps.0: window is missing: a number with its unit: s, min, h or d; at most 90d",
                "c.yaml:11:18: summer: targeting.sections.0: unknown section 'bottom'; allowed: main",
                "c.yaml:15:5: winter: id: unknown key 'id' in a campaign; allowed: \(CampaignReader.members.joined(separator: ", "))",
                "c.yaml:19:20: winter: creatives.1: 'user:u1' is not an ad",
            ], "\(error?.reasons ?? [])")
    }
}

extension TestService {
    fileprivate static func run(
        items: String, _ body: @Sendable (TestService) async throws -> Void, settings: (inout [String: String]) -> Void
    ) async throws {
        var values: [String: String] = [:]
        settings(&values)
        try await run(items: items, settings: values, body)
    }
}
