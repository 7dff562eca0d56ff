import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Replicas with database failures from outside", .onlyInFull, .serialized, .timeLimit(.untilStuck))
struct ReplicaFaultTests {
    private static let hasty = Replicas.settings + ["store.statement-timeout=1s", "store.queue-timeout=1s", "ledger.write-timeout=1s"]

    /// Returns an address that selects the writable server of a primary and its standby.
    private static func address(of servers: [PostgresServer], _ database: PostgresServer.Database) -> String {
        let places = servers.map { "\($0.folder.replacing("/", with: "%2F")):\($0.port)" }.joined(separator: ",")
        return "postgresql://intertwine@\(places)/\(database.name)?target_session_attrs=read-write"
    }

    /// Clicks as a viewer, and returns the response.
    private static func click(_ link: String, as viewer: String, _ service: RunningService) throws -> RawResponse {
        try service.get(link, fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"])
    }

    @Test("A database restart under load causes 503 and loses no answered click")
    func restarted() async throws {
        try await offPool {
            let server = try PostgresServer()
            let services = try Replicas.start(2, of: try server.makeDatabase())
            let load = ClickLoad(ports: services.map(\.port), click: try Replicas.click(services[0]), clients: 8)
            defer { load.stop() }
            try poll { load.count >= 200 }
            try server.stop()
            // A cached page is not served if the replica cannot check its version.
            try poll { try services.allSatisfy { try $0.get("/feed").status == 503 && $0.get("/readyz").status == 503 } }
            try poll { load.refused >= 20 }
            try server.start()
            let before = load.count
            try poll { load.count >= before + 200 }
            try poll { try services.allSatisfy { try $0.get("/feed").status == 200 && $0.get("/readyz").status == 200 } }
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.withoutPause == 0)
            #expect(try Replicas.hasKept(outcome, services[0]))
        }
    }

    @Test("After a lost commit of items, responses, log, audit log and commands say that its outcome is unknown")
    func lostCommit() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let service = try #require(try Replicas.start(1, of: database).first)
            let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            let writes = [
                ("PUT", "/admin/items/user/new", user), ("DELETE", "/admin/items/user/u1", ""),
                ("POST", "/admin/operations", #"{"operations": [{"remove": "user:u2"}]}"#), ("POST", "/admin/items", Items.user("i")),
                ("PUT", "/admin/takedowns/user:u3", ""),
            ]
            func ask(_ write: (String, String, String)) throws -> RawResponse {
                try service.admin(write.0, write.1, body: write.2)
            }
            // A write that is certain to have failed, for comparison.
            try database.psql("ALTER TABLE item RENAME TO hidden")
            let certain = try JSON(ask(writes[0]).text)
            try database.psql("ALTER TABLE hidden RENAME TO item")
            let before = try service.audited().count
            // A client cannot tell this from a server that is lost after its commit.
            try database.psql(
                """
                CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
                CREATE CONSTRAINT TRIGGER lost AFTER INSERT OR UPDATE OR DELETE ON item DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION lost()
                """)
            var problems: [JSON] = []
            for write in writes {
                let answer = try ask(write)
                #expect(answer.status == 503 && answer["retry-after"] != nil, "\(write) \(answer.text)")
                problems.append(try JSON(answer.text))
            }
            let details = Set(problems.compactMap { $0["detail"]?.text })
            #expect(details.count == 1 && certain["detail"]?.text.map(details.contains) == false, "\(details)")
            #expect(Set(problems.compactMap { $0["type"]?.text }) == ["/problems/store-unavailable"])
            let entries = Array(try service.audited().dropFirst(before))
            #expect(entries.count == writes.count && Set(entries.compactMap { $0["outcome"]?.text }) == details, "\(entries)")
            let file = "\(service.folder)/items.ndjson"
            try Items.user("c").write(toFile: file, atomically: true, encoding: .utf8)
            let settings = ["--database", database.uri, "--set", "server.data-folder=\(service.folder)"]
            let words = try #require(details.first?.split(separator: ":").first).lowercased()
            for command in [["import"] + settings + [file], ["takedown", "add"] + settings + ["user:u4"]] {
                let result = try Command.run(command)
                #expect(result.code != 0 && result.lines.contains { $0.lowercased().contains(words) }, "\(result.lines)")
                #expect(try service.audited().last?["outcome"]?.text?.lowercased().contains(words) == true)
            }
            service.process.signal(SIGTERM)
            while try service.process.nextLine() != nil {}
            #expect(service.process.lines.contains { $0.contains("request failed") && $0.contains(words) })
        }
    }

    @Test("A replica under load has at most the documented number of sessions")
    func sessions() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let campaign =
                #"{"kind":"campaign","id":"spring","advertiser":"ACME","creatives":["2"],"caps":[{"count":100,"window":"1d"}]}"# + "\n"
            let limits = ["limits.writes-per-address=1000000", "store.readers=3"]
            let service = try #require(
                try Replicas.start(
                    1, of: database, items: Items.users(12) + Items.advertisements(2, reserved: [2]) + campaign,
                    settings: Replicas.settings + limits
                ).first)
            let load = ClickLoad(ports: [service.port], click: try Replicas.click(service), clients: 8)
            defer { load.stop() }
            let isOver = Atomic(false)
            let group = DispatchGroup()
            for client in 0..<24 {
                DispatchQueue(label: "reader \(client)").async(group: group) { [port = service.port, adminPort = service.adminPort] in
                    var number = 0
                    while !isOver.load(ordering: .relaxed) {
                        number += 1
                        let isReport = client < 3
                        let fields = isReport ? ["Authorization: Bearer \(RunningService.token)"] : ["X-Viewer-ID: v\(client)-\(number)"]
                        _ = try? RunningService.ask(
                            try RawClient(port: isReport ? adminPort : port), "GET", isReport ? "/admin/reports" : "/feed?limit=5",
                            fields: fields + ["User-Agent: tests"])
                    }
                }
            }
            let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'intertwine%'"
            var most = 0
            for _ in 0..<60 {
                most = max(most, Int(try database.psql(count)) ?? 0)
                usleep(50_000)
            }
            isOver.store(true, ordering: .relaxed)
            group.wait()
            #expect((6...4 * 3 + 5).contains(most), "\(most)")
        }
    }

    @Test("A lock on an item blocks only writes of that item")
    func locked() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let service = try #require(try Replicas.start(1, of: database).first)
            let click = try Replicas.click(service)
            let other = try SpawnedProcess([
                "/usr/bin/psql", "-X", "-q", database.uri, "-c", "BEGIN", "-c", "SELECT id FROM item WHERE id = 'u1' FOR UPDATE",
                "-c", "SELECT pg_sleep(60)",
            ])
            defer { other.signal(SIGKILL) }
            let isHeld = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%sleep(60)'"
            try poll { try database.psql(isHeld) == "1" }
            let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            let answer = try service.admin("PUT", "/admin/items/user/u1", with: ["If-Match: *"], body: body)
            #expect(answer.status == 503 && answer["retry-after"] != nil)
            // An import has the same timeout, because all other writers wait behind it.
            #expect(try service.admin("POST", "/admin/items", body: Items.user("u1", "featured")).status == 503)
            #expect(try service.get("/feed?limit=3").status == 200 && service.get(click).status == 302)
            try database.psql(isHeld.replacing("count(*)", with: "pg_terminate_backend(pid)"))
            try poll { try service.admin("PUT", "/admin/items/user/u1", with: ["If-Match: *"], body: body).status == 200 }
        }
    }

    @Test("Without free connections, a new replica fails with one line and others continue")
    func full() async throws {
        try await offPool {
            let server = try PostgresServer(settings: ["max_connections=16", "superuser_reserved_connections=0"])
            let database = try server.makeDatabase()
            let service = try #require(try Replicas.start(1, of: database).first)
            let click = try Replicas.click(service)
            #expect(try service.get(click).status == 302)
            var others: [SpawnedProcess] = []
            try poll {
                let other = try SpawnedProcess(["/usr/bin/psql", "-X", "-q", database.uri, "-c", "SELECT 'in', pg_sleep(600)"])
                others.append(other)
                usleep(100_000)
                return (try? database.psql("SELECT 1")) == nil
            }
            let start = try Command.run(
                ["serve", "--config", service.configurationFile, "--port", "0", "--admin-port", "0", "--database", database.uri]
                    + ["--set", "server.data-folder=\(service.folder)"])
            #expect(start.code == 1 && start.lines.count == 1 && start.lines.first?.contains("max_connections") == true)
            #expect(try service.get("/feed?limit=3").status == 200 && service.get(click).status == 302)
        }
    }

    @Test("A promoted synchronous standby has every answered click after the loss of the primary")
    func promoted() async throws {
        try await offPool {
            let primary = try PostgresServer()
            let database = try primary.makeDatabase()
            let standby = try PostgresServer(standbyOf: primary)
            try database.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try database.psql("SELECT pg_reload_conf()")
            try poll { try database.psql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1" }
            let services = try Replicas.start(2, at: Self.address(of: [primary, standby], database))
            let load = ClickLoad(ports: services.map(\.port), click: try Replicas.click(services[0]), clients: 8)
            defer { load.stop() }
            try poll { load.count >= 200 }
            try primary.stop()
            try standby.promote()
            let before = load.count
            try poll { load.count >= before + 200 }
            try poll { try services.allSatisfy { try $0.get("/feed").status == 200 && $0.get("/readyz").status == 200 } }
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.withoutPause == 0)
            #expect(try Replicas.hasKept(outcome, services[0]))
        }
    }

    @Test("Without a required synchronous standby, writes return 503; an asynchronous failover loses unreplicated clicks")
    func unconfirmed() async throws {
        try await offPool {
            let primary = try PostgresServer()
            let database = try primary.makeDatabase()
            let standby = try PostgresServer(standbyOf: primary)
            let service = try #require(
                try Replicas.start(1, at: Self.address(of: [primary, standby], database), settings: Self.hasty).first)
            let link = try Replicas.click(service)
            #expect(try Self.click(link, as: "before", service).status == 302)
            let beside = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_lsn()"
            try poll { try database.psql(beside) == "1" }
            try standby.stop()

            try database.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try database.psql("SELECT pg_reload_conf()")
            try poll { try database.psql("SHOW synchronous_standby_names") == "*" }
            for viewer in ["unconfirmed", "unconfirmed too"] {
                let answer = try Self.click(link, as: viewer, service)
                #expect(answer.status == 503 && answer["retry-after"] != nil)
            }
            let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            #expect(try service.admin("PUT", "/admin/items/user/u1", with: ["If-Match: *"], body: body).status == 503)

            try database.psql("ALTER SYSTEM RESET synchronous_standby_names")
            try database.psql("SELECT pg_reload_conf()")
            try poll { try Self.click(link, as: "one", service).status == 302 }
            #expect(try Self.click(link, as: "two", service).status == 302)
            try primary.stop()
            try standby.start()
            try standby.promote()
            try poll { try Self.click(link, as: "after", service).status == 302 }
            #expect(try Set(Replicas.viewers(service)) == ["after", "before"])
            #expect(try service.get("/feed?limit=3").status == 200)
        }
    }

    @Test("A disconnected replica returns 503 and no old pages, and other replicas continue")
    func cut() async throws {
        try await offPool {
            let server = try PostgresServer.shared()
            let database = try server.makeDatabase()
            let relay = try Relay(to: server)
            defer { relay.stop() }
            let one = try #require(try Replicas.start(1, of: database, settings: Self.hasty).first)
            let way =
                "postgresql://intertwine@\(relay.folder.replacing("/", with: "%2F")):\(server.port)/\(database.name)?connect_timeout=2"
            let two = try RunningService(settings: Self.hasty, database: way)
            #expect(try two.get("/feed").status == 200)
            let load = ClickLoad(ports: [one.port, two.port], click: try Replicas.click(one), clients: 4)
            defer { load.stop() }
            try poll { load.count >= 100 }
            relay.cut()
            try poll { try two.get("/feed").status == 503 && two.get("/readyz").status == 503 }
            try poll { load.refused >= 4 }
            let before = load.count
            try poll { load.count >= before + 100 }
            let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            #expect(try one.admin("PUT", "/admin/items/user/u1", with: ["If-Match: *"], body: body).status == 200)
            #expect(try one.get("/feed").text.contains("Renamed"))
            for _ in 0..<3 {
                let answer = try two.get("/feed")
                #expect(answer.status == 503 && answer["retry-after"] != nil)
            }
            relay.mend()
            var first: RawResponse?
            try poll {
                let answer = try two.get("/feed")
                if answer.status == 200 { first = answer }
                return first != nil
            }
            #expect(first?.text.contains("Renamed") == true)
            try poll { try two.get("/readyz").status == 200 }
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.withoutPause == 0)
            #expect(try Replicas.hasKept(outcome, one))
        }
    }

    @Test("A statement timeout returns 503, and clicks and other routes continue")
    func slow() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let service = try #require(try Replicas.start(1, of: database, settings: Self.hasty).first)
            let link = try Replicas.click(service)
            #expect(try service.get(link).status == 302)
            try database.psql(
                """
                BEGIN; ALTER TABLE item RENAME TO kept; CREATE VIEW item AS SELECT * FROM kept WHERE pg_sleep(60) IS NOT NULL; COMMIT
                """)
            let page = try service.get("/feed?limit=3")
            #expect(page.status == 503 && page["retry-after"] != nil)
            #expect(
                try service.get(link).status == 302 && service.get("/healthz").status == 200 && service.get("/openapi.json").status == 200)
            _ = try service.process.line(containing: "statement timeout", timeout: 30_000)
            try database.psql("BEGIN; DROP VIEW item; ALTER TABLE kept RENAME TO item; COMMIT")
            #expect(try service.get("/feed?limit=3").status == 200)
        }
    }

    @Test("A full database disk returns 503, logs the reason and loses no answered click", .mounts)
    func fullDisk() async throws {
        try await offPool {
            let disk = try SmallDisk(kibibytes: 48 << 10)
            defer { disk.remove() }
            let server = try PostgresServer()
            let database = try server.makeDatabase(in: disk)
            let service = try #require(try Replicas.start(1, of: database).first)
            let load = ClickLoad(ports: [service.port], click: try Replicas.click(service), clients: 4)
            defer { load.stop() }
            try poll { load.count >= 50 }
            try disk.fill()
            try poll { load.refused >= 20 }
            #expect(try service.get("/feed?limit=3").status == 200)
            let readiness = try service.get("/readyz")
            #expect(readiness.status == 503 && readiness["retry-after"] != nil)
            _ = try service.process.line(containing: "No space left on device", timeout: 30_000)
            try disk.clear()
            let before = load.count
            try poll { load.count >= before + 50 }
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.withoutPause == 0)
            #expect(try Replicas.hasKept(outcome, service))
            try poll { try service.get("/readyz").status == 200 }
        }
    }

    @Test("A replica without clicks also detects the full disk of the database server", .mounts)
    func fullDiskAtRest() async throws {
        try await offPool {
            let disk = try SmallDisk(kibibytes: 48 << 10)
            defer { disk.remove() }
            let server = try PostgresServer()
            let service = try #require(try Replicas.start(1, of: try server.makeDatabase(in: disk)).first)
            #expect(try service.get("/readyz").status == 200)
            try disk.fill()
            try poll { try service.get("/readyz").status == 503 }
            for _ in 0..<3 { #expect(try service.get("/readyz").status == 503) }
            try disk.clear()
            try poll { try service.get("/readyz").status == 200 }
        }
    }
}
