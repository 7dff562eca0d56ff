import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Replicas on one PostgreSQL database, from outside", .serialized, .timeLimit(.minutes(5)))
struct ReplicaTests {
    private final class Version: Sendable {
        let number = Atomic(0)
    }

    private static let settings = [
        RunningService.tokenSetting, "events.rate=1000000", "log.requests=false", "limits.requests-per-connection=1000000000",
    ]
    private static let items = Items.users(12) + Items.advertisements(2)

    /// Replicas of one feed, each with a folder and ports of its own.
    private static func replicas(
        _ count: Int, of database: PostgresServer.Database, items: String = items, settings: [String] = settings
    ) throws -> [RunningService] {
        try (0..<count).map {
            try RunningService(items: $0 == 0 ? items : "", settings: settings, database: database.uri)
        }
    }

    private static func page(_ service: RunningService, _ path: String = "/feed") throws -> JSON {
        try JSON(try service.get(path).text)
    }

    private static func click(_ service: RunningService) throws -> String {
        let ad = try page(service)["items"]?.list.first { $0["id"]?.text == "ad:1" }
        return try #require(ad?["actions"]?["selection"]?["href"]?.text)
    }

    /// False where that did not come about in half a minute.
    private static func wait(until isSo: () throws -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if try isSo() { return true }
            usleep(20_000)
        }
        return false
    }

    /// Whether the ledger has each click that was answered, and none twice.
    private static func hasKept(_ outcome: ClickLoad.Outcome, _ service: RunningService) throws -> Bool {
        let viewers = try service.events().filter { $0["kind"]?.text == "click" }.compactMap { $0["viewer"]?.text }
        return outcome.done.isSubset(of: viewers) && Set(viewers).count == viewers.count
    }

    @Test("what one replica answers holds on the other: pages, cursors, keys, undo, and items, whoever writes them")
    func alike() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let (one, two) = try Self.replicas(2, of: database).pair
            let first = try one.get("/feed?limit=4")
            #expect(try two.get("/feed?limit=4").body == first.body)
            let next = try #require(try JSON(first.text)["page"]?["next"]?.text)
            #expect(try two.get(next).body == one.get(next).body)

            // The same key at both at once is performed by one of them.
            for number in 0..<10 {
                let fields = ["User-Agent: tests", "X-Viewer-ID: v\(number)", "Idempotency-Key: k"]
                let connections = try [one, two].map { try RawClient(port: $0.port) }
                let head = "POST /cells/user:u1/selection HTTP/1.1\r\nHost: localhost\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
                for connection in connections { try connection.send(head) }
                let answers = try connections.map { try $0.response(to: "POST") }
                #expect(answers.map(\.status) == [200, 200] && answers[0].body == answers[1].body)
                let undo = try #require(try JSON(answers[0].text)["undo"]?["href"]?.text)
                #expect(try two.ask("DELETE", undo, fields: Array(fields.prefix(2))).status == 200)
                #expect(try one.ask("DELETE", undo, fields: Array(fields.prefix(2))).status == 409)
            }
            let kinds = try one.events().compactMap { $0["kind"]?.text }
            #expect(kinds.count { $0 == "selection" } == 10 && kinds.count { $0 == "undo" } == 10)

            // Who wrote shows it with the next answer, all others a moment later.
            let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            #expect(try one.admin("PUT", "/admin/users/u1", with: ["If-Match: *"], body: body).status == 200)
            #expect(try one.get("/feed").text.contains("Renamed"))
            #expect(try Self.wait { try two.get("/feed").text.contains("Renamed") })
            try database.psql("UPDATE item SET body = replace(body, 'Renamed', 'Baptised') WHERE id = 'u1'")
            for service in [one, two] { #expect(try Self.wait { try service.get("/feed").text.contains("Baptised") }) }
        }
    }

    @Test("a replica that is killed under load takes nothing with it that was answered, and the others go on")
    func killed() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let services = try Self.replicas(3, of: database)
            let load = ClickLoad(ports: services.map(\.port), click: try Self.click(services[0]), clients: 8)
            #expect(try Self.wait { load.count >= 300 })
            services[0].process.signal(SIGKILL)
            _ = services[0].process.wait()
            let before = load.count
            #expect(try Self.wait { load.count >= before + 300 })
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.refused == 0)
            #expect(try Self.hasKept(outcome, services[1]))
        }
    }

    @Test("a server that restarts under load costs 503 and no answer that was given")
    func restarted() async throws {
        try await offPool {
            let server = try PostgresServer()
            let services = try Self.replicas(2, of: try server.makeDatabase())
            let load = ClickLoad(ports: services.map(\.port), click: try Self.click(services[0]), clients: 8)
            #expect(try Self.wait { load.count >= 200 })
            try server.stop()
            // A page that lay finished is not served when nobody can tell whether it is true.
            #expect(try Self.wait { try services.allSatisfy { try $0.get("/feed").status == 503 && $0.get("/readyz").status == 503 } })
            #expect(try Self.wait { load.refused >= 20 })
            try server.start()
            let before = load.count
            #expect(try Self.wait { load.count >= before + 200 })
            #expect(try Self.wait { try services.allSatisfy { try $0.get("/feed").status == 200 && $0.get("/readyz").status == 200 } })
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.withoutPause == 0)
            #expect(try Self.hasKept(outcome, services[0]))
        }
    }

    @Test("who holds a lock on an item holds up nothing but writes of it")
    func locked() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let service = try #require(try Self.replicas(1, of: database).first)
            let click = try Self.click(service)
            let other = try SpawnedProcess([
                "/usr/bin/psql", "-X", "-q", database.uri, "-c", "BEGIN", "-c", "SELECT id FROM item WHERE id = 'u1' FOR UPDATE",
                "-c", "SELECT pg_sleep(60)",
            ])
            defer { other.signal(SIGKILL) }
            let isHeld = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%sleep(60)'"
            #expect(try Self.wait { try database.psql(isHeld) == "1" })
            let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            let answer = try service.admin("PUT", "/admin/users/u1", with: ["If-Match: *"], body: body)
            #expect(answer.status == 503 && answer["retry-after"] != nil)
            #expect(try service.get("/feed?limit=3").status == 200 && service.get(click).status == 302)
            try database.psql(isHeld.replacing("count(*)", with: "pg_terminate_backend(pid)"))
            #expect(try Self.wait { try service.admin("PUT", "/admin/users/u1", with: ["If-Match: *"], body: body).status == 200 })
        }
    }

    @Test("where the server takes no more connections, a new replica says so in a line and those that run go on")
    func full() async throws {
        try await offPool {
            let server = try PostgresServer(settings: ["max_connections=16", "superuser_reserved_connections=0"])
            let database = try server.makeDatabase()
            let service = try #require(try Self.replicas(1, of: database).first)
            let click = try Self.click(service)
            #expect(try service.get(click).status == 302)
            var others: [SpawnedProcess] = []
            #expect(
                try Self.wait {
                    let other = try SpawnedProcess(["/usr/bin/psql", "-X", "-q", database.uri, "-c", "SELECT 'in', pg_sleep(600)"])
                    others.append(other)
                    usleep(100_000)
                    return (try? database.psql("SELECT 1")) == nil
                })
            let start = try Command.run(
                ["serve", "--config", service.configurationFile, "--port", "0", "--admin-port", "0", "--database", database.uri]
                    + ["--set", "store.folder=\(service.folder)"])
            #expect(start.code == 1 && start.lines.count == 1 && start.lines.first?.contains("max_connections") == true)
            #expect(try service.get("/feed?limit=3").status == 200 && service.get(click).status == 302)
        }
    }

    @Test("of all replicas one asks a source, and another one when that is killed")
    func polling() async throws {
        try await offPool {
            let version = Version()
            let origin = try Origin { _, connection in
                let list =
                    #"{"people":[{"key":"s1","name":"Zora \#(version.number.load(ordering: .relaxed))","face":"https://example.com/1.png"}]}"#
                connection.answer(200, body: Array(list.utf8))
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-sources-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try """
            sources:
              people:
                url: \(origin.url("/people"))
                kind: user
                every: 1s
                items: /people
                fields: {id: key, username: name, avatarUrl: face, type: {value: regular}}
            """.write(toFile: "\(folder)/sources.yaml", atomically: true, encoding: .utf8)
            let settings =
                Self.settings + [
                    "sources.file=\(folder)/sources.yaml", "sources.allowed-networks=127.0.0.1/32", "sources.allowed-ports=\(origin.port)",
                ]
            let database = try PostgresServer.shared().makeDatabase()
            let one = try #require(try Self.replicas(1, of: database, settings: settings).first)
            _ = try one.process.line(containing: "source synchronised", timeout: 30_000)
            let two = try RunningService(settings: settings, database: database.uri)
            version.number.add(1, ordering: .relaxed)
            #expect(try Self.wait { try two.get("/feed?limit=50").text.contains("Zora 1") })
            #expect(try two.get("/feed?limit=50").text.contains("Zora 1"))
            #expect(!two.process.lines.contains { $0.contains("source synchronised") })
            one.process.signal(SIGKILL)
            version.number.add(1, ordering: .relaxed)
            _ = try two.process.line(containing: "source synchronised", timeout: 30_000)
            #expect(try Self.wait { try two.get("/feed?limit=50").text.contains("Zora 2") })
        }
    }

    @Test("a rotated key is taken up by all replicas without a restart, and what the one before signed stays good")
    func rotated() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let (one, two) = try Self.replicas(2, of: database).pair
            let old = try Self.click(one)
            let next = try #require(try Self.page(one, "/feed?limit=2")["page"]?["next"]?.text)
            let picture = try #require(try Self.picture(one))
            let command = [
                "rotate-key", "--config", one.configurationFile, "--database", database.uri, "--set", "store.folder=\(one.folder)",
            ]
            let rotation = try Command.run(command)
            #expect(rotation.code == 0)
            // As if ten seconds had passed.
            try database.psql("UPDATE signing_key SET made = made - interval '10 s'")
            for service in [one, two] { #expect(try Self.wait { try Self.click(service) != old && Self.picture(service) != picture }) }
            #expect(try Self.click(one) == Self.click(two))
            for link in [old, try Self.click(one)] { for service in [one, two] { #expect(try service.get(link).status == 302) } }
            #expect(try two.get(next).status == 200)
            // Of an image nothing but its signature matters here.
            for path in [picture, try #require(try Self.picture(one))] { #expect(try two.get(path).status != 403) }
            let again = try Command.run(command)
            #expect(again.code == 1 && again.lines.count == 1 && again.lines.first?.contains("--force") == true)
        }
    }

    @Test("what files hold is served from a database after a copy, with its links and lists, and from files again")
    func copied() async throws {
        try await offPool {
            let service = try RunningService(items: Self.items, settings: Self.settings)
            let viewer = ["User-Agent: tests", "X-Viewer-ID: ann"]
            #expect(try service.ask("POST", "/cells/user:u3/dismissal", fields: viewer).status == 200)
            let click = try Self.click(service)
            let page = try service.get("/feed", fields: viewer).text
            service.process.signal(SIGTERM)
            #expect(service.process.wait() == 0)
            let database = try PostgresServer.shared().makeDatabase()
            let copy = try Command.run(["copy", "--from", service.database, "--to", database.uri])
            #expect(copy.code == 0 && copy.lines.contains("item: 14"), "\(copy.lines)")
            let replica = try RunningService(settings: Self.settings, database: database.uri)
            #expect(try replica.get("/feed", fields: viewer).text == page && replica.get(click).status == 302)
            replica.process.signal(SIGTERM)
            #expect(replica.process.wait() == 0)
            let folder = "\(service.folder)/back"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let back = try Command.run(["copy", "--from", database.uri, "--to", "\(folder)/intertwine.sqlite"])
            #expect(back.code == 0 && back.lines.contains("event: 2"), "\(back.lines)")
            let last = try RunningService(in: folder, settings: Self.settings)
            #expect(try last.get("/feed", fields: viewer).text == page && last.get(click).status == 302)
        }
    }

    private static func picture(_ service: RunningService) throws -> String? {
        let text = try service.get("/feed?limit=2").text
        return text.firstRange(of: "/images/A").map { String(text[$0.lowerBound...].prefix { $0 != "\"" }) }
    }
}

extension [RunningService] {
    fileprivate var pair: (RunningService, RunningService) { (self[0], self[1]) }
}
