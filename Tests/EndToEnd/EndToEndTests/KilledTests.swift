import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Killed processes from outside")
struct KilledTests {
    /// The maximum duration of a round in seconds. For a long manual run, set `KILLED_AFTER=10`.
    private static let longest = ProcessInfo.processInfo.environment["KILLED_AFTER"].flatMap(Double.init) ?? 1

    @Test("Repeated kill -9 under load loses no answered action and counts no action twice")
    func rounds() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(4) + Items.advertisements(1),
                settings: ["events.click-rate=1000000", "log.requests=false", "limits.requests-per-connection=1000000000"])
            let page = try JSON(try service.get("/feed").text)
            let click = try #require(
                page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            var random = SeededRandom(seed: 64)
            var promised: Set<ActionStorm.Done> = []
            for round in 0..<20 {
                let storm = ActionStorm(port: service.port, click: click, clients: 64, name: "r\(round)", enough: 128)
                #expect(storm.untilAnswered())
                Thread.sleep(forTimeInterval: Double.random(in: 0...Self.longest, using: &random))
                try service.killAndRestart()
                let result = storm.finish()
                promised.formUnion(result.done)
                // The viewers' state is durable too: undone actions stay undone, and other actions can still be undone.
                for (promise, status) in [(result.undone, 409), (result.undoable, 200)] {
                    guard let promise else { continue }
                    let fields = ["User-Agent: tests", "X-Viewer-ID: \(promise.viewer)"]
                    #expect(try service.ask("DELETE", promise.href, fields: fields).status == status)
                }
            }
            let rows = try service.events().compactMap { row in
                row["viewer"]?.text.map { ActionStorm.Done(kind: row["kind"]?.text ?? "", viewer: $0) }
            }
            let kept = Set(rows)
            #expect(promised.subtracting(kept).count == 0)  // A failure of isEmpty would print all of them.
            #expect(kept.count == rows.count)
            #expect(Set(promised.map(\.kind)) == ["click", "selection", "undo", "dismissal"])
            #expect(promised.count >= 20 * 128)
            // A row and its count are on disk together, or neither is.
            #expect(try Self.clicks(in: service) == rows.count { $0.kind == "click" })
        }
    }

    @Test(
        "Four processes with eight clients each count every goal exactly over kill -9, and all outputs agree",
        arguments: CountTests.Store.allCases)
    func goals(store: CountTests.Store) async throws {
        try await offPool {
            let goals = [1, 2, 3, 10, 50]
            let campaigns = goals.map { goal in
                #"{"kind":"campaign","id":"c\#(goal)","advertiser":"ACME","creatives":[\#(goal)],"#
                    + #""goal":{"unit":"clicks","total":\#(goal)},"pacing":"asap"}"# + "\n"
            }
            let settings = [RunningService.tokenSetting, "events.click-rate=1000000", "limits.writes-per-address=1000000"]
            let first = try RunningService(
                items: Items.users(4) + goals.map { Items.advertisement($0, house: false) }.joined() + campaigns.joined(),
                settings: settings,
                database: store == .postgresql ? PostgresServer.shared().makeDatabase().uri : nil)
            let services =
                try [first] + (0..<3).map { _ in try RunningService(in: first.folder, database: first.database, settings: settings) }
            @Sendable func click(_ viewer: String, _ port: UInt16) throws {
                let (client, fields) = (try RawClient(port: port), ["User-Agent: tests", "X-Viewer-ID: \(viewer)"])
                let page = try JSON(try RunningService.ask(client, "GET", "/feed?limit=4", fields: fields).text)
                let ad = page["cells"]?.list.first { $0["id"]?.text?.hasPrefix("ad:") == true }
                guard let link = ad?["actions"]?["selection"]?["href"]?.text else { return }
                _ = try RunningService.ask(client, "GET", link, fields: fields)
            }
            for round in 0..<TestSize.full(8, small: 4) {
                let isOver = Atomic(false)
                let group = DispatchGroup()
                for client in 0..<32 {
                    DispatchQueue(label: "client \(client)").async(group: group) { [port = services[client % 4].port] in
                        var number = 0
                        while !isOver.load(ordering: .relaxed) {
                            number += 1
                            // A killed service answers nothing.
                            do { try click("v\(round)-\(client)-\(number)", port) } catch { break }
                        }
                    }
                }
                Thread.sleep(forTimeInterval: 0.1)
                try services[round % 4].killAndRestart()
                isOver.store(true, ordering: .relaxed)
                group.wait()
            }
            func progress() throws -> [JSON] { try JSON(try first.admin("GET", "/admin/campaigns").text)["campaigns"]?.list ?? [] }
            var number = 0
            try poll(seconds: 300) {
                number += 1
                try click("w\(number)", services[number % 4].port)
                return try progress().allSatisfy { $0["state"]?.text == "reached" }
            }
            let delivered = Dictionary(
                uniqueKeysWithValues: try progress().map { ($0["campaign"]?.text ?? "", $0["delivered"]?.number ?? -1) })
            let expected = Dictionary(uniqueKeysWithValues: goals.map { ("c\($0)", $0) })
            #expect(delivered == expected)
            let events = try first.events().filter { $0["campaign"]?.text != nil && $0["verdict"]?.text == "counted" }
            #expect(Dictionary(grouping: events) { $0["campaign"]?.text ?? "" }.mapValues(\.count) == expected)
            for grouping in ["campaign", "day", "ad", "hour"] {
                let rows = try JSON(try first.admin("GET", "/admin/reports?by=\(grouping)").text)["rows"]?.list ?? []
                #expect(rows.reduce(0) { $0 + ($1["clicks"]?.number ?? 0) } == 66, "\(grouping)")
            }
        }
    }

    @Test("Answered clicks beyond the rate limit are in the totals after kill -9")
    func beyondRate() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(4) + Items.advertisements(1),
                settings: ["events.click-rate=1", "log.requests=false", "limits.requests-per-connection=1000000000"])
            let page = try JSON(try service.get("/feed").text)
            let click = try #require(
                page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            var answered = 0
            for _ in 0..<3 {
                let client = try RawClient(port: service.port)
                // More clicks than the rate limit allows rows in a minute.
                for number in 0..<700 {
                    let fields = ["User-Agent: tests", "X-Viewer-ID: v\(number)"]
                    #expect(try RunningService.ask(client, "GET", click, fields: fields).status == 302)
                    answered += 1
                }
                try service.killAndRestart()
                #expect(try Self.clicks(in: service) == answered)
            }
        }
    }

    /// Returns the number of clicks that `intertwine report` counts.
    private static func clicks(in service: RunningService) throws -> Int {
        let report = try Command.run(
            ["report", "--config", "\(service.folder)/empty.yaml", "--database", service.database, "--by", "verdict", "--format", "json"])
        return try JSON(report.lines.joined()).list.reduce(0) { $0 + ($1["clicks"]?.number ?? 0) }
    }
}
