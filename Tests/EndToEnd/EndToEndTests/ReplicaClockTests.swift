import Foundation
import TestSupport
import Testing

@Suite("Replicas with a wrong clock or a suspended process", .onlyInFull, .serialized, .timeLimit(.untilStuck))
struct ReplicaClockTests {
    private static let fields = ["User-Agent: tests", "X-Viewer-ID: ann"]

    @Test("A replica with a fast clock returns 503 and deletes nothing", arguments: [600, 2 * 86_400] as [Int64])
    func ahead(seconds: Int64) async throws {
        try await offPool {
            let clock = try MovableClock()
            let database = try PostgresServer.shared().makeDatabase()
            let settings = Replicas.settings + ["events.report-verdict=true", "events.click-window=5min", "actions.undo-window=5min"]
            let right = try #require(try Replicas.start(1, of: database, settings: settings).first)
            let wrong = try RunningService(settings: settings, environment: clock.environment, database: database.uri)
            let link = try Replicas.click(right)
            #expect(try right.get(link, fields: Self.fields)["x-verdict"] == "counted")
            let keyed = Self.fields + ["Idempotency-Key: k"]
            let selection = try right.ask("POST", "/cells/user:u1/selection", fields: keyed)
            let undo = try #require(try JSON(selection.text)["undo"]?["href"]?.text)

            clock.offset = seconds
            // A failed write triggers a sweep, and the next write runs after the sweep.
            for _ in 0..<3 { #expect(try wrong.get(link, fields: Self.fields).status == 503) }
            #expect(try wrong.get("/readyz").status == 503)
            let undone = try wrong.ask("DELETE", undo, fields: Self.fields)
            #expect(undone.status == 503 && undone["retry-after"] != nil)
            #expect(try wrong.ask("POST", "/cells/user:u1/selection", fields: keyed).status == 503)
            // Tomorrow's partition can exist, but no partition of the wrong clock.
            let wrongDay = "SELECT to_regclass('event_d' || floor(extract(epoch FROM now()) / 86400)::int + 2) IS NULL"
            #expect(try database.psql(wrongDay) == "t")
            clock.offset = 0
            try poll { try wrong.get("/readyz").status == 200 }

            for service in [wrong, right] {
                #expect(try service.get(link, fields: Self.fields)["x-verdict"] == "duplicate")
                #expect(try service.ask("POST", "/cells/user:u1/selection", fields: keyed).body == selection.body)
            }
            #expect(try wrong.ask("DELETE", undo, fields: Self.fields).status == 200)
        }
    }

    @Test("A replica with a fast clock starts and ends campaigns by the server's time")
    func campaigns() async throws {
        try await offPool {
            let clock = try MovableClock()
            let database = try PostgresServer.shared().makeDatabase()
            let begin = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 300))
            let campaign =
                #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["2"],"priority":"sponsorship","starts":"\#(begin)"}"#
            let service = try RunningService(
                items: Items.users(12) + Items.advertisements(2, reserved: [2]) + campaign + "\n", settings: Replicas.settings,
                environment: clock.environment, database: database.uri
            )
            clock.offset = 600
            let ads = try Replicas.page(service, "/feed?limit=5")["cells"]?.list.compactMap { $0["id"]?.text }.filter {
                $0.hasPrefix("ad:")
            }
            #expect(ads == ["ad:1"])
            let state = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?[0]?["state"]?.text
            #expect(state == "scheduled")
        }
    }

    @Test("A replica that was suspended past the timeout commits no earlier writes")
    func stoodStill() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let (still, other) = try Replicas.start(2, of: database).pair
            let link = try Replicas.click(other)
            #expect(try still.get(link).status == 302)
            let lock = try SpawnedProcess([
                "/usr/bin/psql", "-X", "-q", database.uri, "-c", "BEGIN", "-c", "LOCK TABLE ledger_writer IN EXCLUSIVE MODE",
                "-c", "SELECT pg_sleep(60)",
            ])
            defer { lock.signal(SIGKILL) }
            let sleeping = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%sleep(60)'"
            try poll { try database.psql("SELECT count(*) \(sleeping)") == "1" }
            func click(_ viewer: String) throws -> RawClient {
                let client = try RawClient(port: still.port)
                try client.send(
                    "GET \(link) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: tests\r\nX-Viewer-ID: \(viewer)\r\nConnection: close\r\n\r\n")
                return client
            }
            // The first click is in the current group, and the second waits for the next group.
            let first = try click("one")
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            try poll { try database.psql(waits) == "1" }
            let second = try click("two")
            try poll { try still.admin("GET", "/metrics").text.contains("\nintertwine_ledger_queued_units 1") }
            still.process.signal(SIGSTOP)
            defer { still.process.signal(SIGCONT) }
            try database.psql("SELECT pg_terminate_backend(pid) \(sleeping)")
            let start = try #require(Int(try database.psql("SELECT extract(epoch FROM clock_timestamp())::int")))
            try poll { try database.psql("SELECT extract(epoch FROM clock_timestamp()) > \(start + 6)") == "t" }
            #expect(try other.get(link, fields: ["User-Agent: tests", "X-Viewer-ID: two"]).status == 302)
            still.process.signal(SIGCONT)
            for client in [first, second] {
                let answer = try client.response()
                #expect(answer.status == 503 && answer["retry-after"] != nil)
            }
            try poll { try still.get(link, fields: ["User-Agent: tests", "X-Viewer-ID: three"]).status == 302 }
            #expect(try Replicas.viewers(other).filter { $0 == "one" || $0 == "two" } == ["two"])
        }
    }
}
