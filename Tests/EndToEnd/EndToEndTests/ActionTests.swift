import Foundation
import TestSupport
import Testing

@Suite("Actions from outside")
struct ActionTests {
    private static let viewer = ["User-Agent: tests", "X-Viewer-ID: v1"]

    private static func service(_ settings: [String] = []) throws -> RunningService {
        try RunningService(items: Items.user("Tongue Twister", "featured") + Items.users(5) + Items.advertisements(2), settings: settings)
    }

    @Test("A selected user runs analytics and present, and the response contains an undo link")
    func selection() async throws {
        try await offPool {
            let service = try Self.service()
            let response = try service.ask("POST", "/cells/user:Tongue%20Twister/selection", fields: Self.viewer)
            #expect(response.status == 200)
            let answer = try JSON(response.text)
            #expect(answer["commands"]?.list.compactMap { $0["command"]?.text } == ["analytics", "present"])
            #expect(answer["commands"]?.list.allSatisfy { $0["outcome"]?.text == "performed" } == true)
            #expect(answer["presentation"]?["screen"]?.text == "ImageZoom")
            #expect(answer["presentation"]?["arguments"]?["username"]?.text == "User Tongue Twister")
            let undo = try #require(answer["undo"]?["href"]?.text)
            #expect(try service.ask("DELETE", undo, fields: Self.viewer).status == 200)
            #expect(try service.ask("DELETE", undo, fields: Self.viewer).status == 409)
            #expect(try service.ask("DELETE", "/invocations/none", fields: Self.viewer).status == 404)
            #expect(try service.ask("DELETE", "/cells/user:Tongue%20Twister/selection", fields: Self.viewer).status == 200)
            let kinds = try service.events().compactMap { $0["kind"]?.text }
            #expect(kinds == ["selection", "undo", "deselection"])
        }
    }

    @Test("A selected ad returns the URL to open and cannot be undone")
    func advertisementSelection() async throws {
        try await offPool {
            let service = try Self.service()
            let response = try service.ask("POST", "/cells/ad:1/selection")
            #expect(response.status == 200 && response["location"] == nil)
            let answer = try JSON(response.text)
            #expect(answer["open"]?["href"]?.text == "https://shop.example.com/1?a=b&c=d" && answer["slot"]?.text == "selection")
            let invocation = try #require(answer["invocation"]?["id"]?.text)
            #expect(try service.ask("DELETE", "/invocations/\(invocation)").status == 409)
            #expect(try service.ask("POST", "/cells/ad:99/selection").status == 404)
            #expect(try service.ask("POST", "/cells/nonsense/selection").status == 404)
        }
    }

    @Test("A clickthrough link redirects to the stored URL; a corrupt link returns 404")
    func clickthrough() async throws {
        try await offPool {
            let service = try Self.service(["events.report-verdict=true"])
            let page = try JSON(try service.get("/feed").text)
            let href = try #require(
                page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            let click = try service.get(href)
            #expect(click.status == 302 && click["location"] == "https://shop.example.com/1?a=b&c=d")
            #expect(click["cache-control"] == "no-store" && click["x-verdict"] == "counted")
            #expect(try service.get(href)["x-verdict"] == "duplicate")
            #expect(try service.get(href, fields: ["User-Agent: Googlebot/2.1"])["x-verdict"] == "bot")
            #expect(try service.get(href, fields: ["User-Agent: x", "Sec-Purpose: prefetch"])["x-verdict"] == "prefetch")
            #expect(try service.ask("HEAD", href)["x-verdict"] == "prefetch")
            var random = SeededRandom(seed: 4)
            for _ in 0..<200 {
                var bytes = Array(href.utf8)
                let index = Int.random(in: 7..<bytes.count, using: &random)
                let replacement = try #require("ABCDEFabcdef0123456789-_".utf8.randomElement(using: &random))
                guard bytes[index] != replacement else { continue }
                bytes[index] = replacement
                let forged = try service.get(String(decoding: bytes, as: UTF8.self))
                #expect(forged.status == 404 && forged["location"] == nil)
            }
            let verdicts = try service.events().compactMap { $0["verdict"]?.text }
            #expect(verdicts == ["counted", "duplicate", "bot", "prefetch", "prefetch"])
        }
    }

    @Test("A dismissed cell leaves the viewer's feed, and undo restores its position")
    func dismissal() async throws {
        try await offPool {
            let service = try Self.service()
            func ids(_ fields: [String]) throws -> [String] {
                try JSON(try service.get("/feed", fields: fields).text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
            }
            let before = try ids(Self.viewer)
            let answer = try service.ask("POST", "/cells/user:u1/dismissal", fields: Self.viewer)
            #expect(answer.status == 200)
            #expect(try !ids(Self.viewer).contains("user:u1"))
            #expect(try ids(["X-Viewer-ID: v2"]).contains("user:u1"))
            let undo = try #require(try JSON(answer.text)["undo"]?["href"]?.text)
            #expect(try service.ask("DELETE", undo, fields: ["X-Viewer-ID: v2"]).status == 404)
            #expect(try service.ask("DELETE", undo, fields: Self.viewer).status == 200)
            #expect(try ids(Self.viewer) == before)
            #expect(try service.ask("POST", "/cells/user:u1/dismissal").status == 403)
        }
    }

    @Test("A repeated Idempotency-Key returns the same response without an action; another request returns 422")
    func idempotency() async throws {
        try await offPool {
            let service = try Self.service()
            let fields = Self.viewer + ["Idempotency-Key: k1"]
            let first = try service.ask("POST", "/cells/user:u1/selection", fields: fields)
            let second = try service.ask("POST", "/cells/user:u1/selection", fields: fields)
            #expect(first.status == 200 && second.status == 200 && first.body == second.body)
            #expect(try service.ask("POST", "/cells/user:u2/selection", fields: fields).status == 422)
            #expect(try service.events().count == 1)
            #expect(try service.ask("POST", "/cells/user:u2/selection", fields: Self.viewer + ["Idempotency-Key: a b"]).status == 400)
        }
    }

    @Test("Each client has its own idempotency keys, stored without address or viewer")
    func idempotencyScopes() async throws {
        try await offPool {
            let service = try Self.service(["events.report-verdict=true"])
            func select(_ fields: [String]) throws -> RawResponse {
                try service.ask("POST", "/cells/ad:1/selection", fields: ["User-Agent: tests", "Idempotency-Key: k"] + fields)
            }
            let first = try select(["X-Forwarded-For: 203.0.113.77"])
            let second = try select(["X-Forwarded-For: 203.0.113.78"])
            let third = try select(["X-Viewer-ID: secretive", "DNT: 1"])
            #expect(Set([first.text, second.text, third.text]).count == 3)
            for (answer, fields) in [(first, ["X-Forwarded-For: 203.0.113.77"]), (third, ["X-Viewer-ID: secretive", "DNT: 1"])] {
                let again = try select(fields)
                #expect(again.body == answer.body && again.status == 200)
                #expect(again["x-verdict"] == answer["x-verdict"] && again["x-verdict"] == "no-token")
            }
            for file in try FileManager.default.contentsOfDirectory(atPath: service.folder) where file.contains(".ledger") {
                let bytes = try #require(FileManager.default.contents(atPath: "\(service.folder)/\(file)"))
                for text in ["203.0.113.7", "127.0.0.1", "secretive"] { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(file)") }
            }
        }
    }

    @Test("X-Verdict of a selection equals the verdict of its click")
    func selectionVerdict() async throws {
        try await offPool {
            let service = try Self.service(["events.report-verdict=true"])
            let page = try JSON(try service.get("/feed").text)
            let link = page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text
            let token = try #require(link?.split(separator: "/").last)
            let verdicts = try (0..<2).map { _ in try service.ask("POST", "/cells/ad:1/selection?token=\(token)")["x-verdict"] }
            #expect(verdicts == ["counted", "duplicate"])
        }
    }

    @Test("A click has the same verdict and record for cached and uncached links")
    func knownLinks() async throws {
        try await offPool {
            let requests: [(method: String, fields: [String])] = [
                ("GET", []), ("HEAD", []), ("GET", ["User-Agent: Googlebot/2.1"]), ("GET", ["User-Agent:"]),
                ("GET", ["X-Viewer-ID: ann"]), ("GET", ["x-viewer-id: a", "X-Viewer-ID: b"]), ("GET", ["X-Viewer-ID: ann"]),
                ("GET", ["X-Viewer-ID: \(String(repeating: "x", count: 300))"]), ("GET", ["X-Viewer-ID: zo\u{EB}", "User-Agent: z"]),
                ("GET", ["DNT: 1", "X-Viewer-ID: bob"]), ("GET", ["Sec-GPC: 0, 1", "User-Agent: g"]),
                ("GET", ["Purpose: prefetch"]), ("GET", ["Sec-Purpose: x", "Sec-Purpose: prerender"]), ("GET", ["X-Moz: prefetch"]),
                ("GET", ["X-Forwarded-For: 203.0.113.7, 198.51.100.9"]), ("GET", ["X-Forwarded-For: 1", "X-Forwarded-For: 2001:db8::1"]),
                ("GET", ["User-Agent: \(String(repeating: "u", count: 255))\u{EB}"]), ("GET", ["User-Agent: a", "User-Agent: b"]),
            ]
            // A link with a query is not a cached link.
            let outcomes = try ["", "?from=here"].map { query in
                let service = try Self.service(["events.report-verdict=true"])
                let page = try JSON(try service.get("/feed").text)
                let href = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
                #expect(try service.get(href, fields: ["User-Agent: first"])["x-verdict"] == "counted")
                let answers = try requests.map { method, fields in
                    let agent = fields.contains { $0.hasPrefix("User-Agent") } ? [] : ["User-Agent: tests"]
                    let answer = try service.ask(method, href + query, fields: fields + agent)
                    return [String(answer.status), answer["location"], answer["cache-control"], answer["x-verdict"]]
                }
                let rows = try service.events().map { row in
                    ["kind", "cell", "viewer", "address", "userAgent", "verdict"].map { row[$0]?.text }
                }
                return answers + rows
            }
            #expect(outcomes[0].count == 2 * requests.count + 1)
            #expect(outcomes[0] == outcomes[1])
            #expect(Set(outcomes[0].prefix(requests.count).map { $0[3] }) == ["counted", "duplicate", "bot", "prefetch"])
        }
    }

    @Test("A click on a locked ledger returns 503 and leaves no event")
    func lockedLedger() async throws {
        try await offPool {
            let service = try Self.service(["ledger.write-timeout=2s"])
            let page = try JSON(try service.get("/feed").text)
            let href = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get(href).status == 302)
            let holder = try StoreHolder(of: service, holding: .ledger)
            for target in [href, href + "?from=here"] {
                let answer = try service.get(target)
                #expect(answer.status == 503 && answer["retry-after"] != nil && answer["location"] == nil)
            }
            try holder.letGo()
            #expect(try service.get(href).status == 302)
            #expect(try service.events().count == 2)
        }
    }

    @Test("The click rate limit applies per address across viewers and user agents", arguments: ["truncated", "none"])
    func rates(address: String) async throws {
        try await offPool {
            let service = try Self.service([
                "events.report-verdict=true", "events.click-rate=3", "events.address=\(address)",
            ])
            let page = try JSON(try service.get("/feed").text)
            let href = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            func click(_ agent: String, from address: String, _ more: [String] = []) throws -> String? {
                try service.get(href, fields: ["User-Agent: \(agent)", "X-Forwarded-For: \(address)"] + more)["x-verdict"]
            }
            // Adjacent addresses are different clients.
            let addresses = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.1"]
            #expect(try addresses.map { try click("same", from: $0) } == ["counted", "counted", "counted", "duplicate"])
            let agents = try (0..<4).map { try click("agent \($0)", from: "203.0.113.9", ["X-Viewer-ID: v\($0)"]) }
            #expect(agents == ["counted", "counted", "counted", "limited"])
            #expect(try click("x", from: "203.0.113.10", ["X-Viewer-ID: ann"]) == "counted")
            #expect(try click("x", from: "203.0.113.10") == "duplicate")
            #expect(try click("x", from: "203.0.113.10", ["X-Viewer-ID: bob"]) == "counted")
        }
    }

    @Test("An export has all members in every row and times with a time zone")
    func export() async throws {
        try await offPool {
            let service = try Self.service()
            _ = try service.ask("POST", "/cells/user:u1/selection", fields: Self.viewer)
            _ = try service.ask("POST", "/cells/user:u1/selection", fields: Self.viewer + ["DNT: 1"])
            let rows = try service.events()
            #expect(rows.count == 2 && rows[0]["viewer"]?.text == "v1" && rows[1]["viewer"]?.isNull == true)
            for row in rows {
                for member in ["marker", "at", "kind", "cell", "viewer", "verdict", "address", "userAgent"] { #expect(row[member] != nil) }
                let time = try #require(row["at"]?.text)
                #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
                #expect(
                    abs(
                        try Date(
                            time,
                            strategy: .iso8601.year().month().day().timeZone(separator: .omitted)
                                .time(includingFractionalSeconds: true)
                        ).timeIntervalSinceNow) < 3_600)
            }
        }
    }

    @Test("A new store gives empty reports; a missing store or invalid date is refused")
    func nothingYet() async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
            _ = try RunningService.importItems(Items.users(1), into: "\(folder)/items.sqlite", folder: folder)
            func run(_ command: [String], on database: String = "items.sqlite") throws -> (code: Int32, lines: [String]) {
                try Command.run(command + ["--config", "\(folder)/empty.yaml", "--database", "\(folder)/\(database)"])
            }
            #expect(try run(["export", "events"]) == (0, []))
            #expect(try run(["report", "--format", "json"]) == (0, ["[]"]))
            #expect(try run(["export", "events"], on: "none.sqlite").code != 0)
            #expect(try run(["report"], on: "none.sqlite").code != 0)
            for day in ["2026-02-30", "2026-13-01", "2026-2-03", "+2026-02-1"] {
                #expect(try run(["report", "--from", day]).code == 64, "\(day)")
            }
            #expect(try run(["report", "--from", "2024-02-29", "--to", "2024-02-29"]).code == 0)
        }
    }

    @Test("A dry run lists the simulated commands and records no event")
    func simulation() async throws {
        try await offPool {
            let service = try Self.service()
            let response = try service.ask("POST", "/cells/user:u1/selection?dryRun=true")
            #expect(response.status == 200)
            #expect(try JSON(response.text)["commands"]?.list.compactMap { $0["outcome"]?.text } == ["simulated", "simulated"])
            #expect(try service.ask("POST", "/cells/user:u1/selection?dryRun=perhaps").status == 400)
            #expect(try service.events().isEmpty)
        }
    }

    @Test("Each impression gets a verdict")
    func impressions() async throws {
        try await offPool {
            let service = try Self.service()
            let page = try JSON(try service.get("/feed").text)
            let body = try #require(
                page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["impression"]?["body"]?["events"]?[0])
            let (cell, token) = (try #require(body["cell"]?.text), try #require(body["token"]?.text))
            let event = #"{"type":"impression","cell":"\#(cell)","token":"\#(token)"}"#
            let forged = #"{"type":"impression","cell":"ad:2","token":"\#(token)"}"#
            func repeated(_ body: String, _ key: String = "k") throws -> RawResponse {
                try service.ask("POST", "/events", fields: Self.viewer + ["Idempotency-Key: \(key)"], body: #"{"events":[\#(body)]}"#)
            }
            let first = try repeated("\(event),\(forged)")
            let again = try repeated("\(event),\(forged)")
            #expect(first.status == 200 && again.status == 200 && first.body == again.body, "\(first.text) \(again.text)")
            #expect(try repeated("\(event)").status == 422)
            func verdicts(_ response: RawResponse) throws -> [String] {
                try JSON(response.text)["results"]?.list.compactMap { $0["verdict"]?.text } ?? []
            }
            #expect(try verdicts(first) == ["counted", "unknown"])
            let response = try service.ask("POST", "/events", body: #"{"events":[\#(event),\#(event),\#(forged)]}"#)
            #expect(response.status == 200)
            #expect(try verdicts(response) == ["counted", "duplicate", "unknown"])
            // A request without counted events does not use the key.
            #expect(try verdicts(repeated("\(event)", "l")) == ["duplicate"])
            #expect(try verdicts(repeated("\(event),\(event)", "l")) == ["duplicate", "duplicate"])
            #expect(try repeated("\(event)", "a b").status == 400)
            #expect(try repeated("\(event)", String(repeating: "x", count: 256)).status == 400)
            // Duplicate and unknown impressions are counted in reports, without rows.
            #expect(try service.events().count == 2)
            let many = Array(repeating: event, count: 501).joined(separator: ",")
            for wrong in ["{}", "[\(event)]", "", #"{"events":[\#(many)]}"#] {
                #expect(try service.ask("POST", "/events", body: wrong).status == 400)
            }
        }
    }

    private static let invalidEvents = [
        ("1", "is no object"), ("null", "is no object"), ("[]", "is no object"), (#""{}""#, "is no object"), ("{}", "type: is missing"),
        (#"{"type":"seen","cell":"ad:1","token":"t"}"#, "type: must be one of impression"),
        (#"{"type":1,"cell":"ad:1","token":"t"}"#, "type: must be a string"),
        (#"{"type":"impression","cell":1,"token":"t"}"#, "cell: must be a string"),
        (#"{"type":"impression","cell":"ad:1"}"#, "token: is missing"),
        (#"{"type":"impression","cell":"ad:1","token":""}"#, "token: is missing"),
        (#"{"type":"impression","cell":"ad:1","token":null}"#, "token: is missing"),
        (#"{"type":"impression","cell":"ad:1","cell":"ad:1","token":"t"}"#, "cell: occurs twice"),
        (#"{"type":"impression","cell":"\ud83d","token":NaN}"#, "token: must be a string"),
    ]

    @Test("A malformed event costs itself, not the events beside it")
    func malformedEvents() async throws {
        try await offPool {
            let service = try Self.service()
            let page = try JSON(try service.get("/feed").text)
            let ad = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["impression"]?["body"]?["events"]?[0])
            let event = #"{"type":"impression","cell":"ad:1","token":"\#(try #require(ad["token"]?.text))"}"#
            for (number, (malformed, detail)) in Self.invalidEvents.enumerated() {
                let fields = ["User-Agent: tests", "X-Viewer-ID: v\(number)", "Idempotency-Key: k"]
                let body = #"{"events":[\#(malformed),\#(event),\#(malformed)]}"#
                let answer = try service.ask("POST", "/events", fields: fields, body: body)
                let results = try JSON(answer.text)["results"]?.list ?? []
                #expect(results.map { $0["verdict"]?.text } == ["unknown", "counted", "unknown"], "\(answer.text)")
                #expect(results.map { $0["detail"]?.text?.hasPrefix(detail) } == [true, nil, true], "\(answer.text)")
                #expect(try service.ask("POST", "/events", fields: fields, body: body).text == answer.text)
                #expect(try service.ask("POST", "/events", body: #"{"events":[\#(malformed)]}"#).status == 200)
            }
            #expect(try service.events().count == Self.invalidEvents.count)
        }
    }

    @Test("Each viewer has a separate list of saved cells with pagination")
    func saved() async throws {
        try await offPool {
            let service = try Self.service(["actions.user.selection=analytics,save"])
            for user in 0..<5 { _ = try service.ask("POST", "/cells/user:u\(user)/selection", fields: Self.viewer) }
            var path: String? = "/saved?limit=2"
            var met: [String] = []
            while let current = path {
                let page = try JSON(try service.get(current, fields: Self.viewer).text)
                met += page["cells"]?.list.compactMap { $0["id"]?.text } ?? []
                path = page["page"]?["next"]?.text
            }
            #expect(met == (0..<5).reversed().map { "user:u\($0)" })
            let second = try #require(try JSON(service.get("/saved?limit=2", fields: Self.viewer).text)["page"]?["next"]?.text)
            let back = try service.get(second, fields: Self.viewer)
            let previous = try #require(try JSON(back.text)["page"]?["previous"]?.text)
            #expect(back["link"]?.contains(#"<\#(previous)>; rel="prev""#) == true)
            let first = try JSON(service.get(previous, fields: Self.viewer).text)
            #expect(first["cells"]?.list.compactMap { $0["id"]?.text } == ["user:u4", "user:u3"])
            #expect(first["page"]?["previous"]?.isNull == true)
            #expect(try JSON(try service.get("/saved", fields: ["X-Viewer-ID: other"]).text)["cells"]?.list.isEmpty == true)
            #expect(try service.get("/saved").status == 403)
        }
    }

    @Test("A dismissed or saved cell can be removed from its list, with undo while permitted", arguments: ["0s", "10min"])
    func lists(undo: String) async throws {
        try await offPool {
            let service = try Self.service(["actions.user.selection=analytics,save", "actions.undo-window=\(undo)"])
            func ids(_ path: String) throws -> [String] {
                try JSON(service.get(path, fields: Self.viewer).text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
            }
            func status(_ method: String, _ path: String, _ fields: [String] = Self.viewer) throws -> Int {
                try service.ask(method, path, fields: fields).status
            }
            for user in 0..<3 {
                #expect(try status("POST", "/cells/user:u\(user)/dismissal") == 200)
                #expect(try status("POST", "/cells/user:u\(user)/selection") == 200)
            }
            for (list, command) in [("dismissed", "restore"), ("saved", "unsave")] {
                #expect(try ids("/\(list)") == ["user:u2", "user:u1", "user:u0"])
                #expect(try JSON(service.get("/\(list)?limit=1", fields: Self.viewer).text)["page"]?["next"]?.isNull == false)
                // Errors: no viewer, another viewer, and an item that is not on the list.
                let nobody = try service.ask("DELETE", "/\(list)/user:u1")
                let unnamed = try service.get("/\(list)")
                #expect(nobody.status == 403 && unnamed.status == 403)
                let problems = try [nobody, unnamed].map { try JSON($0.text) }
                #expect(problems.allSatisfy { $0["type"]?.text == "/problems/viewer-required" })
                #expect(problems[0]["detail"]?.text == problems[1]["detail"]?.text)
                #expect(try status("DELETE", "/\(list)/user:u1", ["X-Viewer-ID: other"]) == 404)
                #expect(try status("DELETE", "/\(list)/user:nobody") == 404)
                #expect(try status("DELETE", "/\(list)/user:u1?dryRun=true") == 200)
                #expect(try ids("/\(list)").count == 3)
                let keyed = Self.viewer + ["Idempotency-Key: k-\(list)"]
                let done = try service.ask("DELETE", "/\(list)/user:u1", fields: keyed)
                #expect(try JSON(done.text)["commands"]?[0]?["command"]?.text == command)
                let again = try service.ask("DELETE", "/\(list)/user:u1", fields: keyed)
                #expect(done.status == 200 && again.body == done.body)
                #expect(try status("DELETE", "/\(list)/user:u1") == 404)
                #expect(try status("DELETE", "/\(list)/user:u2", keyed) == 422)
                #expect(try ids("/\(list)") == ["user:u2", "user:u0"])
                if list == "dismissed" { #expect(try ids("/feed").contains("user:u1")) }
                let href = try JSON(done.text)["undo"]?["href"]?.text
                #expect((href == nil) == (undo == "0s"))
                if let href {
                    #expect(try status("DELETE", href) == 200)
                    #expect(try ids("/\(list)") == ["user:u2", "user:u1", "user:u0"])
                    if list == "dismissed" { #expect(try !ids("/feed").contains("user:u1")) }
                }
            }
        }
    }
}
