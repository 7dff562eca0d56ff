import Foundation
import TestSupport
import Testing

/// The real binary with jumps of the wall clock, as after a change of the machine's clock.
@Suite("Clock changes from outside")
struct ClockTests {
    private static let (hour, year): (Int64, Int64) = (3_600, 365 * 86_400)

    private static func service(_ clock: MovableClock, _ settings: [String] = []) throws -> RunningService {
        try RunningService(
            items: Items.users(3) + Items.advertisements(2), settings: ["events.report-verdict=true", "events.click-rate=3"] + settings,
            environment: clock.environment)
    }

    private static func href(on page: String) throws -> String {
        try #require(
            try JSON(page)["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
    }

    @Test("A cached page expires after one hour independently of requests for the other coding", arguments: [true, false])
    func codings(gzipRests: Bool) async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock)
            func page(gzip: Bool) throws -> String {
                let answer = try service.get("/feed", fields: ["User-Agent: tests"] + (gzip ? ["Accept-Encoding: gzip"] : []))
                #expect((answer["content-encoding"] == "gzip") == gzip)
                return gzip ? String(decoding: gunzipped(answer.body), as: UTF8.self) : answer.text
            }
            let first = try page(gzip: gzipRests)
            for hours in 1...26 as ClosedRange<Int64> {
                clock.offset = hours * Self.hour
                let busy = try page(gzip: !gzipRests)
                guard [1, 2, 26].contains(hours) else { continue }
                let rested = try page(gzip: gzipRests)
                #expect(rested == busy && rested != first, "hour \(hours)")
                #expect(try service.get(try Self.href(on: rested))["x-verdict"] == "counted")
            }
        }
    }

    @Test("Events counted while the clock was ahead do not limit clicks after its correction", arguments: [6 * hour, year])
    func rates(jump: Int64) async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock, ["events.click-window=1ms"])
            func verdicts(_ count: Int, _ viewer: String = "v1") throws -> [String?] {
                try (0..<count).map { _ in
                    let fields = ["User-Agent: tests", "X-Viewer-ID: \(viewer)"]
                    return try service.get(try Self.href(on: try service.get("/feed", fields: fields).text), fields: fields)["x-verdict"]
                }
            }
            clock.offset = jump
            #expect(try verdicts(4) == ["counted", "counted", "counted", "limited"])
            clock.offset = 0
            #expect(try verdicts(1) == ["counted"])
            // Entries with a time ahead are also expired for a new process.
            clock.offset = jump
            _ = try verdicts(4)
            clock.offset = 0
            try service.killAndRestart()
            #expect(try verdicts(1, "v2") == ["counted"])
        }
    }

    @Test(
        "After a clock was set back, no event within its window counts again", arguments: [30, 60, 120] as [Int64])
    func setBack(seconds: Int64) async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock, ["events.click-window=10min", "events.click-rate=100"])
            let cells = try JSON(service.get("/feed").text)["cells"]?.list
            let actions = try #require(cells?.first { $0["id"]?.text == "ad:1" }?["actions"])
            let link = try #require(actions["selection"]?["href"]?.text)
            let token = try #require(actions["impression"]?["body"]?["events"]?[0]?["token"]?.text)
            let impression = #"{"events":[{"type":"impression","cell":"ad:1","token":"\#(token)"}]}"#
            /// Returns the verdicts of a click and an impression, and the invocation of a keyed request.
            func ask(_ viewer: Int) throws -> [String?] {
                let fields = ["User-Agent: tests", "X-Viewer-ID: v\(viewer)"]
                let event = try service.ask("POST", "/events", fields: fields, body: impression)
                let key = fields + ["Idempotency-Key: k"]
                return [
                    try service.get(link, fields: fields)["x-verdict"], try JSON(event.text)["results"]?[0]?["verdict"]?.text,
                    try service.ask("POST", "/cells/user:u1/selection", fields: key).text,
                ]
            }
            let first = try (0..<5).map(ask)
            #expect(first.allSatisfy { $0[0] == "counted" && $0[1] == "counted" }, "\(first)")
            clock.offset = -seconds
            let again = try (0..<5).map(ask)
            #expect(again.allSatisfy { $0[0] == "duplicate" && $0[1] == "duplicate" } && again.map(\.[2]) == first.map(\.[2]), "\(again)")
            // A rate is one of elapsed time: no client waits for the time that passes twice.
            let statuses = try (0..<30).map { _ in
                try service.ask("POST", "/cells/user:u2/selection", fields: ["User-Agent: tests", "X-Viewer-ID: v1"]).status
            }
            #expect(Set(statuses) == [200])
        }
    }

    @Test("A clock jump of one year removes no event, and the log reports the reason")
    func retention() async throws {
        try await offPool {
            let clock = try MovableClock()
            let service = try Self.service(clock, ["ledger.retention=10d"])
            #expect(try service.get(try Self.href(on: try service.get("/feed").text)).status == 302)
            clock.offset = Self.year
            for _ in 0..<2 {
                try service.killAndRestart()
                _ = try service.process.line(containing: "the clock is ahead of elapsed time")
                // An event with a time ahead does not confirm that time.
                #expect(try service.get(try Self.href(on: try service.get("/feed").text)).status == 302)
            }
            #expect(try service.events().count == 3)
        }
    }
}
