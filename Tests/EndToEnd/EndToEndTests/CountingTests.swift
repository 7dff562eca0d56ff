import Foundation
import TestSupport
import Testing

/// Event counts under attempts to inflate them from outside.
@Suite("Event counting from outside", .timeLimit(.untilStuck))
struct CountingTests {
    private static func service(_ settings: [String] = []) throws -> RunningService {
        try RunningService(items: Items.users(3) + Items.advertisements(2), settings: ["events.report-verdict=true"] + settings)
    }

    /// The impression event of an ad on the first page.
    private static func event(_ service: RunningService, fields: [String] = ["User-Agent: tests"]) throws -> String {
        let page = try JSON(try service.get("/feed", fields: fields).text)
        let body = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["impression"]?["body"]?["events"]?[0])
        return #"{"type":"impression","cell":"ad:1","token":"\#(try #require(body["token"]?.text))"}"#
    }

    private static func verdicts(_ response: RawResponse) throws -> [String] {
        try JSON(response.text)["results"]?.list.compactMap { $0["verdict"]?.text } ?? []
    }

    private static func size(_ service: RunningService) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: service.folder).filter { $0.contains(".ledger") }
            .reduce(0) { $0 + ((try FileManager.default.attributesOfItem(atPath: "\(service.folder)/\($1)")[.size] as? Int) ?? 0) }
    }

    @Test("One address with different user agents and keys counts a token once in bounded storage")
    func changingUserAgents() async throws {
        try await offPool {
            let service = try Self.service()
            let event = try Self.event(service)
            let body = #"{"events":["# + Array(repeating: event, count: 20).joined(separator: ",") + "]}"
            var (counted, before) = (0, 0)
            let client = try RawClient(port: service.port)
            for number in 0..<200 {
                let fields = ["User-Agent: tests/\(number)", "Idempotency-Key: \(number)"]
                let verdicts = try Self.verdicts(try RunningService.ask(client, "POST", "/events", fields: fields, body: body))
                #expect(verdicts.count == 20)
                counted += verdicts.filter { $0 == "counted" }.count
                if number == 0 { before = try Self.size(service) }
            }
            #expect(counted == 1)
            #expect(try service.events().count == 1)
            #expect(try Self.size(service) - before < 1 << 20)
        }
    }

    @Test("Forged and repeated events have separate verdicts and reasons, and leave no rows")
    func forgeries() async throws {
        try await offPool {
            let service = try Self.service([RunningService.tokenSetting])
            let event = try Self.event(service)
            func ask(_ events: [String]) throws -> [String] {
                let body = #"{"events":[\#(events.joined(separator: ","))]}"#
                return try Self.verdicts(try service.ask("POST", "/events", fields: ["User-Agent: tests"], body: body))
            }
            func changed(_ old: String, _ new: String) -> String { event.replacing("\"\(old)", with: "\"\(new)") }
            let forged = (0..<40).map { #"{"type":"impression","cell":"ad:x\#($0)","token":"forged\#($0)"}"# }
            #expect(
                try ask([event, event, changed("ad:1", "ad:0")] + forged) == ["counted", "duplicate"] + forged.map { _ in "unknown" } + [
                    "unknown"
                ])
            #expect(try ask(forged) == forged.map { _ in "unknown" })
            #expect(try service.admin("PUT", "/admin/takedowns/ad:1").status == 201)
            #expect(try ask([event]) == ["unknown"])
            #expect(try service.get("/click/forged", fields: ["User-Agent: tests"]).status == 404)
            func counts(by grouping: String) throws -> [String: Int] {
                let report = try JSON(try service.admin("GET", "/admin/reports?by=\(grouping)").text)
                var counts: [String: Int] = [:]
                for row in report["rows"]?.list ?? [] {
                    let (impressions, clicks) = (row["impressions"]?.number ?? 0, row["clicks"]?.number ?? 0)
                    counts[row[grouping]?.text ?? ""] = impressions + clicks
                }
                return counts
            }
            #expect(try counts(by: "verdict") == ["counted": 1, "duplicate": 1, "unknown": 83])
            let reasons: [String: Int] = ["counted": 1, "duplicate": 1, "forged": 81, "misplaced": 1, "gone": 1]
            #expect(try counts(by: "reason") == reasons)
            let table = try service.admin("GET", "/admin/reports?by=reason&format=csv").text
            #expect(table.contains("\r\nforged,80,1,"))
            let printed = try Command.run([
                "report", "--config", service.configurationFile, "--database", service.database, "--by", "reason", "--format", "csv",
            ])
            #expect(printed.lines.contains { $0.hasPrefix("forged,80,1,") }, "\(printed)")
            #expect(try service.events().count == 1)
        }
    }

    @Test(
        "With count-clicks=seen, a click counts only after an impression by the same viewer or address"
    )
    func seenClicks() async throws {
        try await offPool {
            let service = try Self.service(["ads.count-clicks=seen", "ads.rotation=listed", "events.click-window=0s"])
            let page = try JSON(try service.get("/feed", fields: ["User-Agent: tests"]).text)
            let actions = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"])
            let link = try #require(actions["selection"]?["href"]?.text)
            let event = try Self.event(service)
            func click(_ fields: [String]) throws -> String? {
                let response = try service.get(link, fields: ["User-Agent: tests"] + fields)
                #expect(response.status == 302)
                return response["X-Verdict"]
            }
            func see(_ fields: [String]) throws {
                let verdicts = try Self.verdicts(
                    try service.ask("POST", "/events", fields: ["User-Agent: tests"] + fields, body: #"{"events":[\#(event)]}"#))
                #expect(verdicts == ["counted"])
            }
            let people = [["X-Viewer-ID: ann"], ["X-Viewer-ID: bob"], ["X-Forwarded-For: 192.0.2.7"], ["X-Forwarded-For: 192.0.2.8"]]
            #expect(try people.map(click) == ["unseen", "unseen", "unseen", "unseen"])
            try see(people[0])
            try see(people[2])
            #expect(try people.map(click) == ["counted", "unseen", "counted", "unseen"])
            // The browser in which an app of the viewer opens the link.
            #expect(try click([]) == "counted")
        }
    }

    @Test("With count-clicks=seen, a click on a campaign ad counts after the impression of its page, by any client")
    func seenClicksOfCampaigns() async throws {
        try await offPool {
            let campaign = #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"]}"# + "\n"
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(1, reserved: [1]) + campaign,
                settings: ["events.report-verdict=true", "ads.count-clicks=seen", "events.click-window=0s"])
            for (own, other) in [
                (["X-Viewer-ID: ann"], ["X-Viewer-ID: bob"]), (["X-Forwarded-For: 192.0.2.7"], ["X-Forwarded-For: 192.0.2.8"]),
            ] {
                func ask(_ fields: [String]) -> [String] { ["User-Agent: tests"] + fields }
                func click(_ link: String, _ fields: [String]) throws -> String? { try service.get(link, fields: ask(fields))["X-Verdict"] }
                let page = try JSON(try service.get("/feed", fields: ask(own)).text)
                let actions = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"])
                let link = try #require(actions["selection"]?["href"]?.text)
                let token = try #require(actions["impression"]?["body"]?["events"]?[0]?["token"]?.text)
                let body = #"{"events":[{"type":"impression","cell":"ad:1","token":"\#(token)"}]}"#
                #expect(try click(link, own) == "unseen")
                #expect(try Self.verdicts(try service.ask("POST", "/events", fields: ask(own), body: body)) == ["counted"])
                #expect(try Self.verdicts(try service.ask("POST", "/events", fields: ask(other), body: body)) == ["duplicate"])
                // The token of the page counts once for all clients: an app opens the link in a browser that does not name the viewer.
                #expect(try click(link, other) == "counted")
                #expect(try click(link, own) == "duplicate")
            }
        }
    }

    @Test(
        "After a key rotation, events counted before remain duplicates under both keys"
    )
    func rotation() async throws {
        try await offPool {
            // A page is another one in the next hour. A moved clock would not do: with PostgreSQL, the service does not start if its clock is wrong.
            let rest = 3_600 - Date().timeIntervalSince1970.truncatingRemainder(dividingBy: 3_600)
            if rest < 60 { Thread.sleep(forTimeInterval: rest) }
            let service = try Self.service(["ads.count-clicks=seen"])
            let (first, second) = (String(repeating: "ab", count: 32), String(repeating: "cd", count: 32))
            func restart(_ keys: String) throws {
                try "signing:\n  \(keys)\n".write(toFile: service.configurationFile, atomically: true, encoding: .utf8)
                try service.killAndRestart()
            }
            try restart("key: \(first)")
            let people = ["X-Viewer-ID: ann", "X-Viewer-ID: bob", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-For: 192.0.2.8"]
                .map { ["User-Agent: tests", $0] }
            func see(_ event: String) throws -> [String] {
                try people.flatMap { try Self.verdicts(try service.ask("POST", "/events", fields: $0, body: #"{"events":[\#(event)]}"#)) }
            }
            func link() throws -> String {
                let page = try JSON(try service.get("/feed", fields: people[0]).text)
                let ad = page["cells"]?.list.first { $0["id"]?.text == "ad:1" }
                return try #require(ad?["actions"]?["selection"]?["href"]?.text)
            }
            let (event, old) = (try Self.event(service, fields: people[0]), try link())
            #expect(try see(event) == Array(repeating: "counted", count: 4))
            // One named viewer and one address have clicked already.
            for person in [people[0], people[2]] { #expect(try service.get(old, fields: person)["X-Verdict"] == "counted") }
            try restart("key: \(second)\n  previous-key: \(first)")
            let new = try Self.event(service, fields: people[0])
            #expect(new != event)
            for event in [event, new] { #expect(try see(event) == Array(repeating: "duplicate", count: 4)) }
            #expect(try people.map { try service.get(old, fields: $0)["X-Verdict"] } == ["duplicate", "counted", "duplicate", "counted"])
            #expect(try service.get(try link(), fields: people[0])["X-Verdict"] == "duplicate")
        }
    }

    @Test("A selection of an ad counts once with a click token and not without")
    func selectionsWithoutToken() async throws {
        try await offPool {
            let service = try Self.service([RunningService.tokenSetting])
            func token(of ad: String) throws -> Substring {
                let cell = try JSON(try service.get("/cells/\(ad)", fields: ["User-Agent: tests"]).text)
                return try #require(cell["actions"]?["selection"]?["href"]?.text).dropFirst("/click/".count)
            }
            func select(_ query: String, _ viewer: String = "invented") throws -> RawResponse {
                try service.ask("POST", "/cells/ad:1/selection\(query)", fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"])
            }
            func counts(_ grouping: String) throws -> [String: Int] {
                let report = try JSON(try service.admin("GET", "/admin/reports?by=\(grouping)").text)
                return Dictionary(
                    uniqueKeysWithValues: (report["rows"]?.list ?? []).map { row in
                        (row[grouping]?.text ?? "", Int((row["clicks"]?.number ?? 0) + (row["selections"]?.number ?? 0)))
                    })
            }
            let bare = try select("")
            #expect(
                bare.status == 200 && bare.text.contains(#""open":{"href":"https://shop.example.com/1?a=b&c=d"}"#)
                    && bare["X-Verdict"] == "no-token")
            #expect(try service.events().map { $0["verdict"]?.text } == ["no-token", "no-token"])
            #expect(try counts("ad") == [:] && counts("verdict") == ["no-token": 2])
            let robot = ["User-Agent: Googlebot/2.1", "X-Viewer-ID: invented"]
            #expect(try service.ask("POST", "/cells/ad:1/selection", fields: robot)["X-Verdict"] == "bot")
            // The token of another cell, and a forged token.
            #expect(try select("?token=\(token(of: "ad:2"))").status == 404)
            #expect(try select("?token=forged").status == 404)
            let click = try token(of: "ad:1")
            #expect(try select("?token=\(click)")["X-Verdict"] == "counted")
            #expect(try service.get("/click/\(click)", fields: ["User-Agent: tests", "X-Viewer-ID: invented"])["X-Verdict"] == "duplicate")
            #expect(try service.get("/click/\(click)", fields: ["User-Agent: tests", "X-Viewer-ID: ann"])["X-Verdict"] == "counted")
            #expect(try select("?token=\(click)", "ann")["X-Verdict"] == "duplicate")
            #expect(try counts("reason").filter { ["forged", "misplaced"].contains($0.key) } == ["forged": 1, "misplaced": 1])
            // Only ads require a token.
            let user = try service.ask("POST", "/cells/user:u0/selection", fields: ["User-Agent: tests", "X-Viewer-ID: ann"])
            #expect(user["X-Verdict"] == "counted")
        }
    }

    @Test("Each address and each viewer counts separately on the same cached page")
    func readersOfOnePage() async throws {
        try await offPool {
            let service = try Self.service()
            let event = try Self.event(service)
            #expect(try Self.event(service, fields: ["User-Agent: other", "X-Forwarded-For: 192.0.2.1"]) == event)
            func verdict(_ address: String, _ viewer: String? = nil) throws -> String? {
                let fields = ["User-Agent: tests", "X-Forwarded-For: \(address)"] + (viewer.map { ["X-Viewer-ID: \($0)"] } ?? [])
                return try Self.verdicts(try service.ask("POST", "/events", fields: fields, body: #"{"events":[\#(event)]}"#)).first
            }
            #expect(try ["192.0.2.1", "192.0.2.2", "192.0.2.1"].map { try verdict($0) } == ["counted", "counted", "duplicate"])
            #expect(try ["2001:db8::1", "2001:db8::2", "2001:db8:1::1"].map { try verdict($0) } == ["counted", "duplicate", "counted"])
            // The order does not matter.
            for (address, people) in [("192.0.2.3", [nil, "a", "b", "a", nil]), ("192.0.2.4", ["c", "d", nil, nil, "c"])] {
                let verdicts = try people.map { try verdict(address, $0) }
                #expect(verdicts.filter { $0 == "counted" }.count == 3 && verdicts.filter { $0 == "duplicate" }.count == 2)
            }
        }
    }
}
