import Foundation
import TestSupport
import Testing

@Suite("Operators' listener from outside")
struct OperatorTests {
    private static let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    @Test("Every route of the operators' listener requires the token")
    func token() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2), settings: [RunningService.tokenSetting])
            let routes = [
                "GET /metrics", "HEAD /metrics", "GET /admin/items/user/u0", "PUT /admin/items/user/u0",
                "DELETE /admin/items/user/u0", "GET /admin/kinds", "GET /admin/kinds/user", "GET /admin/items/ad/1",
                "PUT /admin/items/ad/1",
                "DELETE /admin/items/ad/1",
                "POST /admin/items", "GET /admin/events", "GET /admin/reports", "GET /admin/reports?by=day",
                "DELETE /admin/images?url=https://a.example/a.png",
                "GET /admin/explain", "OPTIONS /admin/explain", "PATCH /admin/items/user/u0", "GET /nowhere", "OPTIONS *",
                "TRACE /metrics", "FOO /metrics", "GET /openapi.json",
            ]
            var wrong = 0
            for route in routes {
                let words = route.split(separator: " ").map(String.init)
                for field in [[], ["Authorization: Bearer wrong"], ["Authorization: Basic \(RunningService.token)"]] {
                    let response = try service.admin(words[0], words[1], fields: field, body: words[0] == "PUT" ? Self.user : "")
                    let isWrong = field.first?.hasSuffix("wrong") == true
                    // After ten wrong tokens, further wrong tokens return 429.
                    let isSlowed = isWrong && wrong >= 10
                    #expect(response.status == (isSlowed ? 429 : 401), "\(route)")
                    let wait = response["retry-after"].flatMap { Int($0) } ?? 0
                    #expect(
                        isSlowed ? (1...60).contains(wait) : response["www-authenticate"]?.hasPrefix("Bearer realm=") == true, "\(route)")
                    if isWrong { wrong += 1 }
                }
            }
            // Wrong tokens do not lock out operators at the same address.
            for path in ["/admin/items/user/u0", "/healthz"] { #expect(try service.admin("GET", path).status == 200) }
            #expect(try service.admin("GET", "/healthz", fields: ["Authorization: Bearer wrong"]).status == 429)
            // The public listener has no operator route.
            for path in ["/metrics", "/admin/items/user/u0", "/admin/explain"] { #expect(try service.get(path).status == 404) }
            // Each resource has one path.
            for path in ["/admin/users/u0", "/admin/reports/day"] { #expect(try service.admin("GET", path).status == 404) }
        }
    }

    @Test("Health and readiness need no token, but a wrong one is refused")
    func health() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1), settings: [RunningService.tokenSetting])
            for path in ["/healthz", "/readyz"] {
                #expect(try service.admin("GET", path, fields: []).status == 200)
                #expect(try service.admin("HEAD", path, fields: []).status == 200)
                #expect(try service.admin("GET", path, fields: ["Authorization: Bearer wrong"]).status == 401)
                #expect(try service.admin("POST", path, fields: []).status == 401)
            }
        }
    }

    @Test("The operators' pages need no token, and all other paths do")
    func page() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2), settings: [RunningService.tokenSetting])
            let pages = [
                "/", "/items", "/ads", "/explain", "/reports", "/corrections", "/preview", "/imports", "/sources", "/takedowns", "/audit",
                "/viewers", "/system",
            ]
            let files = [
                "look.css", "console/console.css", "console/shell.mjs", "console/console.mjs", "reports/reports.mjs", "reports/chart.mjs",
                "reports/admin-api.mjs", "explain/explain.mjs", "items/items.mjs", "items/item-form.mjs", "items/item-list.mjs",
            ]
            for path in pages + files.map({ "/\($0)" }) {
                let page = try service.admin("GET", path, fields: [])
                #expect(page.status == 200 && page["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
                // After ten wrong tokens, further ones return 429.
                #expect(try [401, 429].contains(service.admin("GET", path, fields: ["Authorization: Bearer wrong"]).status))
                #expect(try path == "/" || service.get(path).status == 404)
            }
            #expect(try service.admin("POST", "/reports", fields: []).status == 401)
            for path in ["/reports/", "/reports?x", "/explain?x", "/reports/../metrics", "/items?x", "/items/"] {
                #expect(try service.admin("GET", path, fields: []).status == 401, "\(path)")
            }
        }
    }

    @Test("An operator lists the kinds and reads their schemas")
    func kinds() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            let list = try JSON(try service.admin("GET", "/admin/kinds").text)
            let names = (list["kinds"]?.list ?? []).compactMap { $0["kind"]?.text }
            #expect(names == ["ad", "campaign", "user"])
            for (name, kind) in zip(names, list["kinds"]?.list ?? []) {
                let schema = try service.admin("GET", try #require(kind["schema"]?.text))
                #expect(schema.status == 200 && schema["content-type"] == "application/schema+json")
                #expect(try JSON(schema.text)["properties"]?["kind"]?["const"]?.text == name)
            }
            #expect(try service.admin("GET", "/admin/kinds/nothing").status == 404)
            #expect(try JSON(try service.admin("GET", "/admin/kinds?limit=1").text)["page"]?["next"]?.text != nil)
        }
    }

    @Test("Without a token, only pages of the admin listener can write")
    func origins() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            // The requests have `Host: localhost`.
            let put = { (origin: String) in
                try service.admin("PUT", "/admin/items/user/a", fields: ["Origin: \(origin)", "If-Match: *"], body: Self.user).status
            }
            #expect(try service.admin("PUT", "/admin/items/user/a", body: Self.user).status == 201)
            #expect(try put("http://localhost") == 200)
            for origin in [
                "http://localhost:\(service.adminPort)", "https://localhost", "http://127.0.0.1", "http://localhost.example", "null", "",
            ] {
                #expect(try put(origin) == 403, "\(origin)")
            }
        }
    }

    @Test("An operator creates, reads, replaces and deletes an item, and the feed shows it")
    func items() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting])
            #expect(try service.admin("GET", "/admin/items/user/a%20b").status == 404)
            let created = try service.admin("PUT", "/admin/items/user/a%20b", body: Self.user)
            #expect(created.status == 201)
            #expect(created["location"] == "/admin/items/user/a%20b")
            let tag = try #require(created["etag"])
            let read = try service.admin("GET", "/admin/items/user/a%20b")
            #expect(read["etag"] == tag)
            let item = try JSON(read.text)
            #expect([item["kind"]?.text, item["id"]?.text, item["type"]?.text] == ["user", "a b", "regular"])
            #expect(try service.admin("GET", "/admin/items/user/a%20b", with: ["If-None-Match: \(tag)"]).status == 304)
            #expect(try JSON(try service.get("/feed").text)["cells"]?[0]?["id"]?.text == "user:a b")
            let other = Self.user.replacing("regular", with: "featured")
            let replaced = try service.admin("PUT", "/admin/items/user/a%20b", with: ["If-Match: \(tag)"], body: other)
            #expect(replaced.status == 200)
            #expect(replaced["etag"] != tag)
            #expect(try JSON(try service.get("/feed").text)["cells"]?[0]?["identifier"]?.text == "CircularUserCollectionViewCell")
            #expect(try service.admin("DELETE", "/admin/items/user/a%20b", with: ["If-Match: \(tag)"]).status == 412)
            #expect(try service.admin("DELETE", "/admin/items/user/a%20b").status == 204)
            #expect(try service.admin("DELETE", "/admin/items/user/a%20b", with: ["If-Match: *"]).status == 404)
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.isEmpty == true)
        }
    }

    @Test("An invalid item returns 422 and names the field, and a body that is not JSON returns 400")
    func invalid() async throws {
        let user = Self.user
        let items = [
            ("[]", "object"), ("1", "object"), (#"{"username":"A","type":"regular"}"#, "avatarUrl"),
            (user.replacing("regular", with: "odd"), "type"), (user.replacing("https:", with: "ftp:"), "avatarUrl"),
            (#"{"kind":"ad","# + user.dropFirst(), "kind"), (#"{"id":"other","# + user.dropFirst(), "id"),
            (#"{"username":"B","# + user.dropFirst(), "username"), (#"{"kind":null,"# + user.dropFirst(), "kind"), ("{}", "username"),
        ]
        let texts = ["{", "{}x", user.replacing(":", with: "="), "\u{1}", "", "\(user.dropLast()),,}", "[1,]", "{'a':1}"]
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting])
            for (body, named) in items {
                let response = try service.admin("PUT", "/admin/items/user/a", body: body)
                #expect(response.status == 422 && response.text.contains(named), "\(body): \(response.text)")
            }
            for body in texts {
                let response = try service.admin("PUT", "/admin/items/user/a", body: body)
                #expect(response.status == 400, "\(body)")
                #expect(try JSON(response.text)["type"]?.text == "/problems/invalid-body", "\(body)")
            }
            #expect(try service.admin("GET", "/admin/items/user/a").status == 404)
        }
    }

    @Test("A comma before the end of an object or a list is left out in the body of each request")
    func commas() async throws {
        let bodies = [
            ("PUT", "/admin/takedowns/user:b", #"{"reason":"x"}"#, 2), ("PUT", "/admin/campaigns/none/override", #"{"paused":true}"#, 4),
            ("POST", "/admin/events/void", #"{"from":"2020-01-01T00:00:00Z","until":"2020-12-31T00:00:00Z","dryRun":true}"#, 2),
            ("PATCH", "/admin/items", #"{"kind":"user","id":"a","username":"B"}"#, 2),
            ("PATCH", "/admin/items", #"[{"kind":"user","id":"a","username":"B"}]"#, 2),
            ("POST", "/admin/operations", #"{"operations":[{"move":"user:c","before":"user:a"}]}"#, 2),
            ("PUT", "/admin/items/user/n", Self.user, 2),
            ("PUT", "/clients/test-1", #"{"cells":"*"}"#, 2), ("POST", "/images/viewport", #"{"visible":[]}"#, 2),
            ("POST", "/events", #"{"events":[{"type":"impression","token":"x"}]}"#, 2),
        ]
        try await offPool {
            let items = [Items.user("a"), Items.user("b"), Items.user("c")].joined(separator: "\n")
            let service = try RunningService(items: items, settings: [RunningService.tokenSetting])
            for (method, path, body, status) in bodies {
                for (number, more) in ["", ",", " , \n", ",,"].enumerated() {
                    let text = String(body.dropLast()) + more + String(body.suffix(1))
                    let fields = ["Authorization: Bearer \(RunningService.token)", "Content-Type: application/json"]
                    let port = path.hasPrefix("/admin/") ? service.adminPort : service.port
                    let answer = try RunningService.ask(try RawClient(port: port), method, path, fields: fields, body: text)
                    #expect(answer.status / 100 == (number < 3 ? status : 4), "\(method) \(path) \(text): \(answer.status) \(answer.text)")
                    if number == 3 { #expect(answer.status != 404) }
                }
            }
        }
    }

    @Test("One of several concurrent conditional writes succeeds, and the others return 412")
    func lostUpdate() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("a"), settings: [RunningService.tokenSetting])
            let writers = Writers(try (0..<8).map { _ in try RawClient(port: service.adminPort) })
            for round in 0..<20 {
                let tag = try #require(try service.admin("GET", "/admin/items/user/a")["etag"])
                let statuses = writers.all { connection, number in
                    let body = Self.user.replacing("\"A\"", with: "\"writer \(number) of round \(round)\"")
                    let fields = ["Authorization: Bearer \(RunningService.token)", "If-Match: \(tag)"]
                    return try RunningService.ask(connection, "PUT", "/admin/items/user/a", fields: fields, body: body).status
                }
                #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 7), "round \(round)")
            }
            // A write without a condition returns 428.
            #expect(try service.admin("PUT", "/admin/items/user/a", body: Self.user).status == 428)
        }
    }

    @Test("An explanation has the reason of each cell and of each excluded ad")
    func explain() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(4) + Items.advertisements(2) + Items.advertisement(9, "video"), settings: [RunningService.tokenSetting])
            let page = try JSON(try service.get("/feed?limit=2").text)
            let next = try #require(page["page"]?["next"]?.text)
            let response = try service.admin("GET", "/admin/explain" + next.dropFirst("/feed".count))
            #expect(response.status == 200)
            let explanation = try JSON(response.text)
            let feed = try JSON(try service.get(next).text)
            #expect(explanation["cells"]?.list.compactMap { $0["cell"]?.text } == feed["cells"]?.list.compactMap { $0["id"]?.text })
            #expect(explanation["cells"]?.list.compactMap { $0["adSlot"]?.number } == [0])
            #expect(explanation["rotation"]?["perPage"]?.number == 1)
            let first = try JSON(try service.admin("GET", "/admin/explain?limit=2").text)
            let places = [first, explanation].map { page in page["cells"]?.list.first { $0["adSlot"]?.number == 0 } }
            #expect(places.map { $0?["cell"]?.text } == ["ad:1", "ad:2"])
            #expect([first, explanation].map { $0["rotation"]?["start"]?.number } == places.map { $0?["position"]?.number })
            #expect(
                explanation["cells"]?.list.compactMap { $0["factory"]?.text }
                    == ["UserSnapshotCellFactory", "AdvertisementCellFactory", "UserSnapshotCellFactory"])
            let excluded = try #require(explanation["excludedAdvertisements"]?[0])
            #expect(excluded["id"]?.text == "9")
            #expect(excluded["reason"]?.text?.hasPrefix("the feed has 2 pages of this limit") == true)
            let ads = try #require(explanation["advertisements"]?.list)
            #expect(ads.compactMap { $0["page"]?.number } == [1, 2] && explanation["rotation"]?["page"]?.number == 2)
            #expect(ads.map { $0["isOnThisPage"]?.value as? Bool } == [false, true, false])
            // The feed has one page for three ads: the second eligible ad is on no page.
            let whole = try JSON(try service.admin("GET", "/admin/explain").text)
            #expect(whole["excludedAdvertisements"]?.list.compactMap { $0["id"]?.text } == ["2", "9"])
            #expect(
                whole["excludedAdvertisements"]?[0]?["reason"]?.text
                    == "the feed has 1 page of this limit, with 1 advertisement in all, and the rotation does not reach this one: 1 precede it"
            )
            #expect(try service.admin("GET", "/admin/explain?cursor=forged").status == 400)
            #expect(try service.admin("GET", "/admin/explain?limit=0").status == 400)
        }
    }

    @Test("Reports count events by day, ad, verdict and other dimensions")
    func reports() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(2) + Items.advertisement(1), settings: [RunningService.tokenSetting])
            let ad = try #require(try JSON(try service.get("/feed").text)["cells"]?.list.first { $0["id"]?.text == "ad:1" })
            let href = try #require(ad["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get(href, fields: ["User-Agent: Mozilla/5.0 Firefox"]).status == 302)
            let report = try JSON(try service.admin("GET", "/admin/reports?by=ad").text)
            #expect(report["rows"]?[0]?["key"]?.text == "ad:1")
            #expect(report["rows"]?[0]?["counts"]?["click"]?.number == 1)
            // The rows have the same members as those of the command.
            let printed = try Command.run([
                "report", "--config", service.configurationFile, "--database", service.database, "--by", "ad", "--format", "json",
            ])
            let row = try #require(try JSON(printed.lines.joined())[0])
            #expect(row["ad"]?.text == "ad:1" && row["clicks"]?.number == 1 && row["ctr"]?.isNull == true)
            #expect(row.keys.allSatisfy { "\(row[$0]?.value ?? "")" == "\(report["rows"]?[0]?[$0]?.value ?? "?")" }, "\(row) \(report)")
            #expect(try JSON(try service.admin("GET", "/admin/reports?by=verdict").text)["rows"]?[0]?["key"]?.text == "counted")
            let places = try JSON(try service.admin("GET", "/admin/reports?by=feed&thenBy=creative").text)
            #expect(places["thenBy"]?.text == "creative" && places["rows"]?.list.count == 1)
            #expect(places["rows"]?[0]?["feed"]?.text == "main" && places["rows"]?[0]?["creative"]?.text == "image")
            #expect(places["rows"]?[0]?["clicks"]?.number == 1)
            let table = try service.admin("GET", "/admin/reports?by=position&thenBy=ad&format=csv")
            #expect(table["content-type"] == "text/csv; charset=utf-8")
            #expect(table.text.hasPrefix("position,ad,impressions,clicks,") && table.text.contains(",ad:1,0,1,"))
            let written = try Command.run([
                "report", "--config", service.configurationFile, "--database", service.database, "--by", "position", "--then-by", "ad",
                "--format",
                "csv",
            ])
            #expect(
                written.lines.filter { !$0.isEmpty }.map { $0.replacing("\r", with: "") }
                    == table.text.split(separator: "\r\n").map(String.init))
            #expect(try JSON(try service.admin("GET", "/admin/reports?from=2020-01-01&to=2020-01-02").text)["rows"]?.list.isEmpty == true)
            for query in ["by=moon", "from=yesterday", "from=2020-01-02&to=2020-01-01", "from=2026-02-30", "to=2026-11-21x"] {
                #expect(try service.admin("GET", "/admin/reports?\(query)").status == 400)
            }
        }
    }
}
