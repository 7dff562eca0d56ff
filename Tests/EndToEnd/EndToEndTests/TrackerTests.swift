import Foundation
import TestSupport
import Testing

/// Calls of trackers by the real binary.
@Suite("Trackers")
struct TrackerTests {
    private static func items(_ origin: Origin) -> String {
        Items.users(2)
            + """
            {"kind":"ad","id":1,"type":"image","contentUrl":"https://a.example/1.png","clickthroughUrl":"https://a.example/",\
            "clickTrackers":["\(origin.url("/seen?e={event}&v={viewer}"))","\(origin.url("/gone?e={event}"))"]}

            """
    }

    private static func click(_ service: RunningService, viewer: String) throws {
        let ad = try #require(try JSON(try service.get("/feed").text)["cells"]?.list.first { $0["id"]?.text == "ad:1" })
        let href = try #require(ad["actions"]?["selection"]?["href"]?.text)
        #expect(try service.get(href, fields: ["User-Agent: Mozilla/5.0 Firefox", "X-Viewer-ID: \(viewer)"]).status == 302)
    }

    /// Waits until the origin has `count` requests of a path.
    private static func wait(_ origin: Origin, _ path: String, _ count: Int) -> [Origin.Request] {
        let end = ContinuousClock.now + .seconds(90)
        while true {
            let found = origin.requests.filter { $0.path.hasPrefix(path) }
            if found.count >= count || ContinuousClock.now > end { return found }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    @Test("Trackers are called after the commit, retried after a failure, and given up after 404")
    func called() async throws {
        try await offPool {
            let failures = EventLog<Int>()
            let origin = try Origin { request, connection in
                let status: String
                if request.path.hasPrefix("/gone") {
                    status = "404 Not Found"
                } else {
                    failures.append(0)
                    status = failures.events.count == 1 ? "503 Busy" : "200 OK"
                }
                connection.send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
            }
            let settings = ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)"]
            let service = try RunningService(items: Self.items(origin), settings: settings)
            try Self.click(service, viewer: "anna")
            #expect(Self.wait(origin, "/gone?e=1", 1).count == 1)
            #expect(Self.wait(origin, "/seen?e=1", 1).count == 1)
            // The new process retries the call.
            try service.killAndRestart()
            let again = Self.wait(origin, "/seen?e=1", 2)
            #expect(again.count == 2 && again[0].path == again[1].path && !again[0].path.contains("anna"))
            #expect(again[0].path.split(separator: "=").last?.count == 22)

            func trackers() throws -> JSON {
                let printed = try Command.run([
                    "tracker-calls", "--config", service.configurationFile, "--database", service.database, "--format", "json",
                ])
                return try JSON(printed.lines.joined())
            }
            let end = ContinuousClock.now + .seconds(90)
            while try trackers()["waiting"]?.number != 0, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
            let left = try trackers()
            #expect(left["waiting"]?.number == 0 && left["givenUp"]?.number == 1)
            #expect(left["calls"]?[0]?["state"]?.text == "given-up" && left["calls"]?[0]?["failure"]?.text == "status 404")
        }
    }

    @Test("A selection calls trackers only with the token of a page")
    func withoutToken() async throws {
        try await offPool {
            let origin = try Origin { _, connection in connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
            let settings = ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)"]
            let service = try RunningService(items: Self.items(origin), settings: settings)
            func select(_ query: String, _ viewer: String) throws {
                let fields = ["User-Agent: Mozilla/5.0 Firefox", "X-Viewer-ID: \(viewer)"]
                #expect(try service.ask("POST", "/cells/ad:1/selection\(query)", fields: fields).status == 200)
            }
            let ad = try #require(try JSON(try service.get("/feed").text)["cells"]?.list.first { $0["id"]?.text == "ad:1" })
            let href = try #require(ad["actions"]?["selection"]?["href"]?.text)
            try select("", "invented")
            try select("?token=\(href.dropFirst("/click/".count))", "anna")
            // Calls follow the order of events: the first call belongs to the second selection.
            #expect(Self.wait(origin, "/seen", 1).map { $0.path.hasPrefix("/seen?e=4&") } == [true])
        }
    }

    @Test("Calls in the queue of a fast host finish without pauses")
    func backlog() async throws {
        try await offPool {
            let origin = try Origin { _, connection in connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
            let settings = ["images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)", "events.click-rate=1000"]
            let service = try RunningService(items: Self.items(origin), settings: settings)
            let begun = ContinuousClock.now
            for number in 0..<60 { try Self.click(service, viewer: "viewer\(number)") }
            #expect(Self.wait(origin, "/seen?e=", 60).count == 60)
            // Batches of eight every five seconds would exceed this limit.
            #expect(begun.duration(to: .now) < MachineSpeed.bound(.seconds(30)))
        }
    }

    @Test("Unavailable hosts do not delay other hosts, and a long response counts as success")
    func dead() async throws {
        try await offPool {
            let origin = try Origin { _, connection in
                // The response exceeds the read limit and is never complete.
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                connection.send(String(repeating: "x", count: 200_000))
            }
            let silent = try Origin("0.0.0.0") { _, connection in connection.waitForClose() }
            let gone = try freePort()
            func advertisement(_ id: Int, _ trackers: [String]) -> String {
                """
                {"kind":"ad","id":\(id),"type":"image","contentUrl":"https://a.example/1.png",\
                "clickthroughUrl":"https://a.example/","clickTrackers":\(trackers)}

                """
            }
            // Seven silent hosts with different addresses, and one without a listener.
            let dead = (2...8).map { "https://127.0.0.\($0):\(silent.port)/s?e={event}" } + ["https://127.0.0.9:\(gone)/g?e={event}"]
            let service = try RunningService(
                items: Items.users(2) + advertisement(1, dead) + advertisement(2, [origin.url("/seen?e={event}")]),
                settings: [
                    "images.allowed-networks=127.0.0.0/8", "images.allowed-ports=\(origin.port),\(silent.port),\(gone)",
                    "events.click-rate=1000",
                    "trackers.max-pending=100", "ads.per-page=2",
                ])
            func click(_ ad: String, viewer: String) throws {
                let cells = try JSON(try service.get("/feed").text)["cells"]?.list ?? []
                let href = try #require(cells.first { $0["id"]?.text == ad }?["actions"]?["selection"]?["href"]?.text)
                #expect(try service.get(href, fields: ["User-Agent: Mozilla/5.0 Firefox", "X-Viewer-ID: \(viewer)"]).status == 302)
            }
            for number in 0..<20 { try click("ad:1", viewer: "dead\(number)") }
            for number in 0..<20 { try click("ad:2", viewer: "good\(number)") }
            #expect(Self.wait(origin, "/seen?e=", 20).count == 20)
            // No call was repeated in the meantime.
            Thread.sleep(forTimeInterval: 1)
            #expect(Set(origin.requests.map(\.path)).count == origin.requests.count)
        }
    }

    @Test("A campaign calls its trackers and those of the ad, and reports have its advertiser")
    func campaign() async throws {
        try await offPool {
            let origin = try Origin { _, connection in connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
            let campaign = """
                {"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["1"],"clickTrackers":["\(origin.url("/paid?c={campaign}&a={ad}"))"]}

                """
            let service = try RunningService(
                items: Self.items(origin).replacing(#""id":1,"#, with: #""id":1,"house":false,"#) + campaign,
                settings: [
                    "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)", RunningService.tokenSetting,
                ])
            try Self.click(service, viewer: "anna")
            #expect(Self.wait(origin, "/paid?c=spring&a=ad%3A1", 1).count == 1)
            #expect(Self.wait(origin, "/seen", 1).count == 1)
            let report = try JSON(try service.admin("GET", "/admin/reports?by=advertiser&thenBy=campaign").text)
            #expect(report["rows"]?[0]?["advertiser"]?.text == "ACME" && report["rows"]?[0]?["campaign"]?.text == "spring")
        }
    }

    @Test("Tracker calls to private addresses are refused, also after a redirect")
    func refused() async throws {
        try await offPool {
            let origin = try Origin { _, connection in
                connection.send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/\r\nContent-Length: 0\r\n\r\n")
            }
            for allowed in [[], ["images.allowed-networks=127.0.0.1/32"]] {
                let service = try RunningService(items: Self.items(origin), settings: allowed + ["images.allowed-ports=\(origin.port),1"])
                try Self.click(service, viewer: "anna")
                let end = ContinuousClock.now + .seconds(90)
                var lines: [String] = []
                while ContinuousClock.now < end {
                    lines = try Command.run(["tracker-calls", "--config", service.configurationFile, "--database", service.database]).lines
                    if lines.first?.hasPrefix("0 waiting; 2 given up") == true { break }
                    Thread.sleep(forTimeInterval: 0.1)
                }
                #expect(lines.first?.hasPrefix("0 waiting; 2 given up") == true, "\(lines)")
                #expect(lines.dropFirst().filter { !$0.isEmpty }.allSatisfy { $0.contains("address-denied") }, "\(lines)")
                #expect(allowed.isEmpty ? origin.requests.isEmpty : origin.requests.count == 2)
            }
        }
    }
}
