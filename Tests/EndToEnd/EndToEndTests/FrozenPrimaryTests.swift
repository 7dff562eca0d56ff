import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Replicas with a frozen or stopped primary", .onlyInFull, .serialized, .timeLimit(.untilStuck))
struct FrozenPrimaryTests {
    private static func address(_ servers: [PostgresServer], _ database: PostgresServer.Database) -> String {
        let places = servers.map { "\($0.folder.replacing("/", with: "%2F")):\($0.port)" }.joined(separator: ",")
        return "postgresql://intertwine@\(places)/\(database.name)?target_session_attrs=read-write"
    }

    /// The responses to requests that arrive one after another while the primary is frozen.
    private final class Outcome: Sendable {
        private let state = Mutex<(statuses: Set<Int>, slowest: Duration, count: Int)>(([], .zero, 0))

        func add(_ status: Int, _ duration: Duration) {
            state.withLock { state in
                state.statuses.insert(status)
                (state.slowest, state.count) = (max(state.slowest, duration), state.count + 1)
            }
        }

        var value: (statuses: Set<Int>, slowest: Duration, count: Int) { state.withLock { $0 } }
    }

    @Test("Each request to a replica of a frozen primary gets 503 within 8 seconds, and succeeds once the primary is back")
    func frozen() async throws {
        try await offPool {
            let primary = try PostgresServer()
            let database = try primary.makeDatabase()
            let service = try #require(try Replicas.start(1, of: database).first)
            let link = try Replicas.click(service)
            let viewer = ["User-Agent: tests", "X-Viewer-ID: before"]
            for _ in 0..<8 {
                #expect(try service.get("/feed", fields: viewer).status == 200)
                #expect(try service.get(link, fields: viewer).status == 302)
            }
            let paths = ["/feed", "/feed?limit=3", link, "/cells/user:u1", "/readyz", "/feed/changes?syncToken=x"]
            let (outcome, group) = (Outcome(), DispatchGroup())
            let port = service.port
            try primary.freeze()
            for (number, path) in (paths + paths).enumerated() {
                DispatchQueue(label: "client \(number)").async(group: group) {
                    // Requests follow each other, so that later ones find other states of the connections.
                    for round in 0..<4 {
                        let start = ContinuousClock.now
                        let fields = ["User-Agent: tests", "X-Viewer-ID: \(number)-\(round)"]
                        guard let client = try? RawClient(port: port),
                            let answer = try? RunningService.ask(client, "GET", path, fields: fields)
                        else { return outcome.add(0, .zero) }
                        outcome.add(answer.status, start.duration(to: .now))
                    }
                }
            }
            group.wait()
            let (statuses, slowest, count) = outcome.value
            try primary.thaw()
            // A cached page is served until the loss is detected. The sync token is invalid.
            #expect(statuses.contains(503) && statuses.isSubset(of: [200, 400, 503]), "\(statuses)")
            #expect(count == 48 && slowest < MachineSpeed.bound(.seconds(8)), "\(count), \(slowest)")
            try poll { try service.get("/readyz").status == 200 && service.get("/feed").status == 200 }
            try poll { try service.get(link, fields: ["User-Agent: tests", "X-Viewer-ID: after"]).status == 302 }
        }
    }

    @Test("/readyz of a replica with a frozen primary responds within 300 ms: 503, or 200 with a standby", arguments: [false, true])
    func readiness(hasStandby: Bool) async throws {
        try await offPool {
            let primary = try PostgresServer()
            let database = try primary.makeDatabase()
            let standby = hasStandby ? try PostgresServer(standbyOf: primary) : nil
            let service = try #require(
                try Replicas.start(
                    1, at: standby.map { Self.address([primary, $0], database) } ?? database.uri,
                    settings: Replicas.settings + (hasStandby ? ["store.degraded-reads=1h"] : [])
                ).first)
            try poll { try service.get("/readyz").status == 200 }
            try poll {
                try !hasStandby || database.psql("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()") == "1"
            }
            // The replica has measured the lag of its standby, and so has a session with it.
            try poll { try !hasStandby || !service.admin("GET", "/metrics").text.contains("sessions{purpose=\"standby\"} 0\n") }
            try primary.freeze()
            let frozen = ContinuousClock.now
            let port = service.port
            // Reports and uncached pages, which open sessions, beside the probes.
            let (outcome, group) = (Outcome(), DispatchGroup())
            for number in 0..<6 {
                DispatchQueue(label: "client \(number)").async(group: group) { [adminPort = service.adminPort] in
                    let isPage = number < 5
                    let path = isPage ? "/feed?limit=\(number + 1)" : "/admin/reports"
                    let fields = isPage ? ["User-Agent: tests", "X-Viewer-ID: v"] : ["Authorization: Bearer \(RunningService.token)"]
                    let start = ContinuousClock.now
                    let answer = try? RunningService.ask(try RawClient(port: isPage ? port : adminPort), "GET", path, fields: fields)
                    outcome.add(answer?.status ?? 0, start.duration(to: .now))
                }
            }
            var (statuses, times, noticed) = ([Int](), [Duration](), Duration?.none)
            var (lastReady, longestPause) = (frozen, Duration.zero)
            let client = try RawClient(port: port)
            while .now - frozen < .seconds(7) {
                let start = ContinuousClock.now
                let answer = try RunningService.ask(client, "GET", "/readyz")
                times.append(start.duration(to: .now))
                statuses.append(answer.status)
                if answer.status == 200 { lastReady = .now }
                longestPause = max(longestPause, lastReady.duration(to: .now))
                if noticed == nil, answer.status == 503 || answer.text.contains("degraded") { noticed = frozen.duration(to: .now) }
                usleep(20_000)
            }
            group.wait()
            // Other processes of the machine may delay a few.
            times.sort()
            #expect(times[times.count * 19 / 20] < .milliseconds(300) && times[times.count - 1] < .seconds(1), "\(times.suffix(9))")
            let time = try #require(noticed)
            #expect(time < MachineSpeed.bound(.milliseconds(1_300)), "\(time)")
            #expect(statuses.last == (hasStandby ? 200 : 503))
            // A balancer takes out a replica that is unready at two or three probes.
            #expect(!hasStandby || longestPause < .seconds(1), "\(longestPause)")
            #expect(outcome.value.slowest < MachineSpeed.bound(.seconds(2)), "\(outcome.value)")
            // The report needs the primary.
            #expect(outcome.value.statuses.isSubset(of: hasStandby ? [200, 503] : [503]), "\(outcome.value)")
            try primary.thaw()
            try poll { try service.get("/readyz").text.contains("ready\"") }
        }
    }

    @Test("While the primary is away, pages come from the standby with their age, and writes get 503", arguments: [true, false])
    func degraded(isFrozen: Bool) async throws {
        try await offPool {
            let primary = try PostgresServer()
            let database = try primary.makeDatabase()
            let standby = try PostgresServer(standbyOf: primary)
            let service = try #require(
                try Replicas.start(
                    1, at: Self.address([primary, standby], database), settings: Replicas.settings + ["store.degraded-reads=1h"]
                ).first)
            let link = try Replicas.click(service)
            let viewer = ["User-Agent: tests", "X-Viewer-ID: v"]
            #expect(try service.ask("POST", "/cells/user:u3/dismissal", fields: viewer).status == 200)
            let (shared, own) = (try service.get("/feed"), try service.get("/feed", fields: viewer))
            #expect(shared["age"] == nil && own["age"] == nil)
            #expect(own.text.contains("user:u2") && !own.text.contains("user:u3"))
            try poll {
                try database.psql("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()") == "1"
            }
            if isFrozen { try primary.freeze() } else { try primary.stop() }
            // Pages that wait for the primary when it vanishes, of a viewer and without one. No page of these limits is cached, and each has one
            // of the four reader threads.
            let (outcome, group) = (Outcome(), DispatchGroup())
            for number in 1...3 {
                DispatchQueue(label: "client \(number)").async(group: group) { [port = service.port] in
                    let start = ContinuousClock.now
                    let fields = number < 3 ? viewer : ["User-Agent: tests"]
                    let answer = try? RunningService.ask(try RawClient(port: port), "GET", "/feed?limit=\(number)", fields: fields)
                    outcome.add(answer?.status ?? 0, start.duration(to: .now))
                }
            }
            group.wait()
            #expect(outcome.value.statuses == [200], "\(outcome.value)")
            #expect(outcome.value.slowest < MachineSpeed.bound(.seconds(8)), "\(outcome.value)")
            try poll { try service.get("/feed")["age"] != nil }
            let page = try service.get("/feed")
            #expect(page.status == 200 && page.text == shared.text && page["etag"] == shared["etag"])
            #expect(Int(page["age"] ?? "").map { $0 >= 1 && $0 < 60 } == true, "\(page["age"] ?? "")")
            let later = try service.get("/feed", fields: viewer)
            #expect(later.status == 200 && later["age"] != nil && later.text.contains("user:u2") && !later.text.contains("user:u3"))
            #expect(try service.get(link, fields: viewer).status == 503)
            #expect(try service.ask("POST", "/cells/user:u4/dismissal", fields: viewer).status == 503)
            #expect(try service.admin("PUT", "/admin/items/user/new", body: Items.user("new")).status == 503)
            #expect(try service.get("/cells/user:u1").status == 503)
            let ready = try service.get("/readyz")
            #expect(ready.status == 200 && ready.text == #"{"status":"degraded"}"#)
            let metrics = try service.admin("GET", "/metrics").text
            #expect(metrics.contains("intertwine_postgresql_listener_up 0\n"))
            #expect(!metrics.contains("intertwine_postgresql_standby_reads_total{data=\"degraded\"} 0\n"))
            if isFrozen { try primary.thaw() } else { try primary.start() }
            try poll { try service.get("/feed")["age"] == nil && service.get("/readyz").text.contains("ready") }
            try poll { try service.get(link, fields: viewer).status == 302 }
        }
    }

    @Test("Pages older than the setting are not served, and the setting needs a standby")
    func tooOld() async throws {
        try await offPool {
            let primary = try PostgresServer()
            let database = try primary.makeDatabase()
            let standby = try PostgresServer(standbyOf: primary)
            let service = try #require(
                try Replicas.start(
                    1, at: Self.address([primary, standby], database), settings: Replicas.settings + ["store.degraded-reads=2s"]
                ).first)
            try primary.stop()
            try poll { try service.get("/feed").status == 503 && service.get("/readyz").status == 503 }
            let refused = try Command.run([
                "check-config", "--config", "/dev/null", "--database", database.uri, "--set", "store.degraded-reads=1min",
            ])
            #expect(refused.code == 1 && refused.lines.contains { $0.contains("store.degraded-reads: requires a second host") })
        }
    }
}
