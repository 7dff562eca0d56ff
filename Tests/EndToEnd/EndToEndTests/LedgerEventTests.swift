import Foundation
import TestSupport
import Testing

@Suite("The events of the ledger for other programs, from outside", .timeLimit(.untilStuck))
struct LedgerEventTests {
    /// A program that follows the events as the documentation says: it keeps `page.next` only after it has the events.
    private struct Follower {
        var next = "/admin/events?limit=7"
        var markers: [Int] = []
        var viewers: [String] = []

        mutating func read(_ service: RunningService) throws -> Int {
            let answer = try service.admin("GET", next)
            try #require(answer.status == 200, "\(answer.status) \(answer.text)")
            let page = try JSON(answer.text)
            let events = page["events"]?.list ?? []
            markers += events.compactMap { $0["marker"]?.number }
            viewers += events.compactMap { $0["viewer"]?.text }
            next = try #require(page["page"]?["next"]?.text)
            #expect(answer["link"] == "<\(next)>; rel=\"next\"")
            return events.count
        }
    }

    private static func service(_ settings: [String] = []) throws -> (RunningService, click: String) {
        let service = try RunningService(
            items: Items.users(2) + Items.advertisements(1), settings: ["events.click-rate=1000000", "log.requests=false"] + settings)
        let page = try JSON(try service.get("/feed").text)
        return (
            service, try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
        )
    }

    private static func click(_ service: RunningService, _ href: String, _ viewer: String) throws {
        #expect(try service.get(href, fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"]).status == 302)
    }

    @Test("A program gets each event once and in order, over kill -9 of a service under load")
    func killed() async throws {
        try await offPool {
            let (service, click) = try Self.service()
            var follower = Follower()
            var acknowledged: Set<String> = []
            for round in 1...4 {
                let load = ClickLoad(ports: [service.port], click: click, clients: 4)
                while load.count < 40 { _ = try follower.read(service) }
                if round < 4 { try service.killAndRestart() }
                acknowledged.formUnion(load.stop().done)
            }
            while try follower.read(service) > 0 {}
            #expect(acknowledged.subtracting(follower.viewers).count == 0)
            #expect(follower.markers == Set(follower.markers).sorted())
            let rows = try service.events()
            #expect(rows.compactMap { $0["marker"]?.number } == follower.markers)
            // A line of NDJSON is the line of the command.
            let lines = try service.admin("GET", "/admin/events?limit=10000&format=ndjson")
            #expect(lines["content-type"] == "application/x-ndjson" && lines["link"]?.contains("format=ndjson") == true)
            #expect(lines.text.split(separator: "\n").count == rows.count)
            #expect(try JSON(String(try #require(lines.text.split(separator: "\n").last)))["viewer"]?.text == rows.last?["viewer"]?.text)
        }
    }

    @Test("A request that waits is answered by the next event, by its end, and by the stop of the service")
    func waits() async throws {
        try await offPool {
            let (service, click) = try Self.service()
            let first = try JSON(try service.admin("GET", "/admin/events?after=0&wait=1").text)
            #expect(first["events"]?.list.isEmpty == true)
            let next = try #require(first["page"]?["next"]?.text)
            #expect(next == "/admin/events?after=0&limit=1000&wait=1")
            let waiting = try RawClient(port: service.adminPort)
            try waiting.send("GET /admin/events?after=0&wait=30 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            usleep(300_000)
            try Self.click(service, click, "ann")
            let began = ContinuousClock.now
            let answer = try JSON(try waiting.response(to: "GET").text)
            #expect(answer["events"]?.list.compactMap { $0["viewer"]?.text } == ["ann"])
            #expect(began.duration(to: .now) < .seconds(10))
            try waiting.send("GET /admin/events?after=1&wait=30 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            usleep(300_000)
            service.process.signal(SIGTERM)
            #expect(try JSON(try waiting.response(to: "GET").text)["events"]?.list.isEmpty == true)
            #expect(began.duration(to: .now) < .seconds(20))
        }
    }

    @Test("More than 16 requests do not wait, and a client that leaves makes place")
    func crowd() async throws {
        try await offPool {
            let (service, _) = try Self.service()
            func wait() throws -> RawClient {
                let client = try RawClient(port: service.adminPort)
                try client.send("GET /admin/events?wait=30 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return client
            }
            let clients = try (0..<16).map { _ in try wait() }
            usleep(500_000)
            let refused = try service.admin("GET", "/admin/events?wait=5")
            #expect(refused.status == 503 && refused["retry-after"] == "5")
            #expect(try service.admin("GET", "/admin/events").status == 200)
            for client in clients { client.close() }
            var status = 503
            for _ in 0..<50 where status == 503 {
                usleep(100_000)
                status = try service.admin("GET", "/admin/events?wait=1").status
            }
            #expect(status == 200)
        }
    }

    @Test(
        "A program behind the retention gets 410 with the oldest marker; so does one that is ahead of a restored ledger",
        .enabled(if: !RunningService.usesPostgreSQL, "the clock of the database does not move"))
    func gone() async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try RunningService(
                items: Items.users(2) + Items.advertisements(1), settings: ["events.click-rate=1000000", "ledger.retention=1d"],
                environment: clock.environment)
            func click(_ viewer: String) throws {
                let page = try JSON(try service.get("/feed").text)
                let href = page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text
                try Self.click(service, try #require(href), viewer)
            }
            for viewer in ["a", "b", "c"] { try click(viewer) }
            // Less than a day is no leap, so the removal believes it.
            for day in 1...3 as ClosedRange<Int64> {
                clock.offset = day * 82_800
                try service.killAndRestart()
                try click("d\(day)")
            }
            var oldest = 0
            for _ in 0..<1_200 where oldest == 0 {
                let answer = try service.admin("GET", "/admin/events?after=0")
                if answer.status == 410 {
                    let problem = try JSON(answer.text)
                    #expect(problem["type"]?.text == "/problems/events-removed")
                    oldest = try #require(problem["oldest"]?.number)
                }
                usleep(50_000)
            }
            #expect(oldest >= 3)
            let kept = try service.events().compactMap { $0["marker"]?.number }
            #expect(kept.first == oldest + 1)
            for query in ["", "?after=\(oldest)"] {
                let page = try JSON(try service.admin("GET", "/admin/events\(query)").text)
                #expect(page["events"]?.list.compactMap { $0["marker"]?.number } == kept)
            }
            let ahead = try service.admin("GET", "/admin/events?after=\((kept.last ?? 0) + 1)&wait=5")
            #expect(ahead.status == 410)
            #expect(try JSON(ahead.text)["oldest"]?.number == oldest)
            for query in ["after=-1", "after=x", "limit=0", "limit=10001", "wait=31", "format=xml"] {
                #expect(try service.admin("GET", "/admin/events?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test("An erased viewer is not in the events")
    func erased() async throws {
        try await offPool {
            let (service, click) = try Self.service(["events.address=none"])
            for viewer in ["ann", "bob"] { try Self.click(service, click, viewer) }
            #expect(try service.admin("DELETE", "/admin/viewers/ann").status == 200)
            let events = try JSON(try service.admin("GET", "/admin/events").text)["events"]?.list ?? []
            #expect(events.map { $0["viewer"]?.text } == [nil, "bob"])
            #expect(events.map { $0["userAgent"]?.text } == [nil, "tests"])
            #expect(events.allSatisfy { $0["address"]?.text == nil })
        }
    }
}
