import Foundation
import TestSupport
import Testing

/// Requests from pages of other sites in the browsers of viewers.
@Suite("Requests from pages of other sites")
struct ForeignPageTests {
    private static let evil = "Origin: https://evil.example.com"
    private static let agent = "User-Agent: Mozilla/5.0 Firefox/140.0"

    private static func fetched(_ site: String, _ mode: String, _ destination: String) -> [String] {
        [agent, "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: \(mode)", "Sec-Fetch-Dest: \(destination)"]
    }

    private static func link(_ service: RunningService, _ index: Int = 0) throws -> String {
        let ads = try JSON(try service.get("/feed").text)["cells"]?.list.filter { $0["id"]?.text?.hasPrefix("ad:") == true } ?? []
        try #require(index < ads.count)
        return try #require(ads[index]["actions"]?["selection"]?["href"]?.text)
    }

    @Test("A click by a subresource of another site is redirected and recorded, but not counted")
    func subresource() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(2) + Items.advertisements(1), settings: ["events.report-verdict=true", "events.click-rate=1000"])
            let link = try Self.link(service)
            let requests = [
                ("cross-site", "no-cors", "image"), ("same-site", "no-cors", "image"), ("cross-site", "no-cors", "script"),
                ("cross-site", "navigate", "iframe"), ("cross-site", "cors", "empty"), ("cross-site", "navigate", "object"),
            ]
            for (site, mode, destination) in requests {
                // Later clicks on a known link use another code path than the first click.
                for path in [link, link, link + "?from=here"] {
                    let answer = try service.get(path, fields: Self.fetched(site, mode, destination))
                    #expect(answer.status == 302 && answer["x-verdict"] == "subresource", "\(site) \(mode) \(destination)")
                }
            }
            let followed = Self.fetched("cross-site", "navigate", "document") + ["Sec-Fetch-User: ?1"]
            #expect(try service.get(link, fields: followed)["x-verdict"] == "counted")
            #expect(
                try service.events().compactMap { $0["verdict"]?.text } == Array(repeating: "subresource", count: 18) + ["counted"])
            let report = try Command.run([
                "report", "--by", "verdict", "--format", "csv", "--config", service.configurationFile, "--database", service.database,
            ])
            #expect(report.lines.contains { $0.hasPrefix("subresource,0,18,") }, "\(report.lines)")
        }
    }

    @Test("A navigation by a script of another site does not count in a browser that states actions of its user")
    func scripted() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(2) + Items.advertisements(1), settings: ["events.report-verdict=true", "events.click-window=0s"])
            let link = try Self.link(service)
            let browsers = [
                ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "scripted"),
                ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "scripted"),
                ("Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15", "counted"),
                ("Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile Safari/604.1", "counted"),
                ("Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile Safari/605.1.15", "counted"),
            ]
            for (agent, verdict) in browsers {
                let fields = ["User-Agent: \(agent)", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
                #expect(try service.get(link, fields: fields)["x-verdict"] == verdict, "\(agent)")
                #expect(try service.get(link, fields: fields + ["Sec-Fetch-User: ?1"])["x-verdict"] == "counted", "\(agent)")
            }
        }
    }

    @Test("Navigations, same-origin requests and clicks without Fetch Metadata fields count")
    func navigation() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: ["events.report-verdict=true"])
            let requests = [
                Self.fetched("cross-site", "navigate", "document") + ["Sec-Fetch-User: ?1"],
                Self.fetched("same-site", "navigate", "document"),
                Self.fetched("none", "navigate", "document"), Self.fetched("same-origin", "cors", "empty"), [Self.agent],
            ]
            let link = try Self.link(service)
            for (number, fields) in requests.enumerated() {
                // A click counts once for each viewer.
                let answer = try service.get(link, fields: fields + ["X-Viewer-ID: v\(number)"])
                #expect(answer["x-verdict"] == "counted", "\(fields)")
            }
        }
    }

    @Test("A subresource click calls no tracker")
    func tracker() async throws {
        try await offPool {
            let origin = try Origin { _, connection in connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
            let ads = (1...2).map { number in
                """
                {"kind":"ad","id":\(number),"type":"image","contentUrl":"https://a.example/1.png",\
                "clickthroughUrl":"https://a.example/","clickTrackers":["\(origin.url("/\(number)"))"]}

                """
            }
            let settings = ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)", "ads.per-page=2"]
            let service = try RunningService(items: Items.users(2) + ads.joined(), settings: settings)
            #expect(try service.get(Self.link(service, 0), fields: Self.fetched("cross-site", "no-cors", "image")).status == 302)
            #expect(try service.get(Self.link(service, 1), fields: [Self.agent]).status == 302)
            let end = ContinuousClock.now + .seconds(60)
            while origin.requests.isEmpty, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.02) }
            // Trackers are called in the order of events: a call for the first ad would precede this one.
            #expect(origin.requests.map(\.path) == ["/2"])
        }
    }

    @Test("Writes from another origin return 403 and have no effect")
    func foreignOrigin() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(1), settings: ["cors.origins=https://app.example.com"])
            let undo = try #require(
                try JSON(try service.ask("POST", "/cells/user:u0/selection").text)["undo"]?["href"]?.text)
            let writes: [(String, String, String)] = [
                ("POST", "/cells/user:u1/selection", ""), ("DELETE", "/cells/user:u1/selection", ""),
                ("POST", "/cells/user:u1/dismissal", ""),
                ("POST", "/cells/user:u1/like", ""), ("DELETE", undo, ""), ("DELETE", "/saved/user:u1", ""),
                ("DELETE", "/dismissed/user:u1", ""),
                ("POST", "/events", #"{"events":[]}"#), ("PUT", "/clients/x", #"{"cells":"*"}"#), ("POST", "/feed/changes", "{}"),
                ("DELETE", "/images/requests/x", ""),
            ]
            let origins = [
                [Self.evil], ["Origin: null"], ["Origin: https://app.example.com.evil.com"], ["Origin: http://localhost:1"],
                ["Origin: https://app.example.com", "Origin: https://evil.example.com"], ["Sec-Fetch-Site: cross-site"],
                ["Sec-Fetch-Site: same-site"],
            ]
            for (method, path, body) in writes {
                for fields in origins {
                    let answer = try service.ask(method, path, fields: ["User-Agent: x", "X-Viewer-ID: v"] + fields, body: body)
                    #expect(answer.status == 403, "\(method) \(path) \(fields)")
                    #expect(answer.text.contains("/problems/foreign-origin"))
                }
            }
            #expect(try service.events().count == 1)
            let metrics = try service.admin("GET", "/metrics").text
            #expect(metrics.contains("/cells/{id}/selection"))
        }
    }

    @Test("Writes from the service's pages and from allowed origins succeed, behind a proxy too")
    func ownOrigin() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(3),
                settings: ["cors.origins=https://app.example.com", "server.public-url=https://feed.example.com/base"])
            let fields = [
                ["Host: localhost", "Origin: http://localhost"], ["Host: LOCALHOST:80", "Origin: http://localhost"],
                ["Host: feed.test:8080", "Origin: http://feed.test:8080"], ["Host: feed.test", "Origin: https://feed.test"],
                ["Host: feed.test:443", "Origin: https://feed.test"], ["Host: 10.0.0.7:8080", "Origin: https://feed.example.com"],
                ["Host: 10.0.0.7:8080", "Origin: https://other.example.com", "Sec-Fetch-Site: same-origin"],
                ["Host: localhost", "Origin: https://app.example.com", "Sec-Fetch-Site: cross-site"], ["Host: localhost"],
            ]
            for fields in fields {
                let client = try RawClient(port: service.port)
                try client.send(
                    "POST /cells/user:u1/selection HTTP/1.1\r\n" + (fields + ["User-Agent: x"]).map { "\($0)\r\n" }.joined() + "\r\n")
                #expect(try client.response(to: "POST").status == 200, "\(fields)")
            }
            #expect(try service.ask("POST", "/cells/user:u1/selection", fields: ["Origin: http://feed.example.com"]).status == 403)
            let open = try RunningService(items: Items.users(1), settings: ["cors.origins=*"])
            #expect(try open.ask("POST", "/cells/user:u0/selection", fields: [Self.evil]).status == 200)
        }
    }

    @Test("A body of another media type than JSON returns 415")
    func mediaTypes() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2))
            // The length of a body is known or not before it arrives, and the status is the same.
            func status(_ type: String?, _ body: String, _ path: String = "/events", _ method: String = "POST") throws -> Int {
                let fields = type.map { "Content-Type: \($0)\r\n" } ?? ""
                let chunk = body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
                let statuses = try [
                    "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", "Transfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n",
                ].map { message in
                    let client = try RawClient(port: service.port)
                    try client.send("\(method) \(path) HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\n\(fields)\(message)")
                    return try client.response(to: method).status
                }
                #expect(statuses[0] == statuses[1], "\(type ?? "none") \(body)")
                return statuses[0]
            }
            for type in ["application/json", "Application/JSON; charset=utf-8", "application/json ;x=y"] {
                #expect(try status(type, #"{"events":[]}"#) == 200, "\(type)")
            }
            for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ""] {
                #expect(try status(type, "[]") == 415, "\(type)")
                #expect(try status(type, "{}", "/cells/user:u0/selection") == 415, "\(type)")
            }
            #expect(try status(nil, "[]") == 415)
            #expect(try status(nil, #"{"cells":"*"}"#, "/clients/x", "PUT") == 415)
            #expect(try status(nil, "{}", "/cells/user:u0/selection") == 415)
            // An empty body has no type.
            for type in [nil, "text/plain", ""] { #expect(try status(type, "", "/cells/user:u0/selection") == 200) }
            let client = try RawClient(port: service.port)
            try client.send("POST /events HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n")
            let answer = try client.response(to: "POST")
            #expect(answer.status == 415 && answer["accept"] == "application/json")
            #expect(try service.events().count == 6)
        }
    }
}
