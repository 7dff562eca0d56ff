import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Replicas on one PostgreSQL database from outside", .serialized, .timeLimit(.untilStuck))
struct ReplicaTests {
    private final class Version: Sendable {
        let number = Atomic(0)
    }

    @Test("Replicas share pages, cursors, idempotency keys, undo and items")
    func alike() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let (one, two) = try Replicas.start(2, of: database).pair
            let first = try one.get("/feed?limit=4")
            #expect(try two.get("/feed?limit=4").body == first.body)
            let next = try #require(try JSON(first.text)["page"]?["next"]?.text)
            #expect(try two.get(next).body == one.get(next).body)

            // One replica performs concurrent requests with the same idempotency key.
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

            // The writing replica shows the change at once, and the others a moment later.
            let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            #expect(try one.admin("PUT", "/admin/items/user/u1", with: ["If-Match: *"], body: body).status == 200)
            #expect(try one.get("/feed").text.contains("Renamed"))
            try poll { try two.get("/feed").text.contains("Renamed") }
            try database.psql("UPDATE item SET body = replace(body, 'Renamed', 'Baptised') WHERE id = 'u1'")
            for service in [one, two] { try poll { try service.get("/feed").text.contains("Baptised") } }
        }
    }

    @Test("A page needs one database round trip for items, with an ad and with dismissals", .onlyInFull)
    func roundTrips() async throws {
        try await offPool {
            let server = try PostgresServer.shared()
            let relay = try Relay(to: server)
            defer { relay.stop() }
            let database = try server.makeDatabase()
            let way = "postgresql://intertwine@\(relay.folder.replacing("/", with: "%2F")):\(server.port)/\(database.name)"
            let service = try RunningService(
                items: Replicas.items, settings: Replicas.settings + ["feed.page-cache=0", "feed.max-staleness=0s"], database: way)
            let viewer = ["User-Agent: tests", "X-Viewer-ID: v"]
            // The third page has the first advertisement again.
            for fields in [Array(viewer.prefix(1)), viewer] {
                var path: String? = "/feed?limit=3"
                // The first page also loads the data that all pages share.
                _ = try service.ask("GET", "/feed?limit=3", fields: fields)
                for number in 1...3 {
                    let asked = try #require(path)
                    var page: JSON?
                    let answers = try relay.answers { page = try JSON(service.ask("GET", asked, fields: fields).text) }
                    #expect(page?["cells"]?.list.count == 4)
                    let items = answers.filter { $0.firstRange(of: Array("Url\":".utf8)) != nil }
                    #expect(items.count == 1, "page \(number) took \(items.count)")
                    path = page?["page"]?["next"]?.text
                }
                #expect(try service.ask("POST", "/cells/user:u11/dismissal", fields: viewer).status == 200)
            }
        }
    }

    @Test("A replica that is killed under load loses no answered click, and others continue", .onlyInFull)
    func killed() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let services = try Replicas.start(3, of: database)
            let load = ClickLoad(ports: services.map(\.port), click: try Replicas.click(services[0]), clients: 8)
            defer { load.stop() }
            try poll { load.count >= 300 }
            services[0].process.signal(SIGKILL)
            _ = services[0].process.wait()
            let before = load.count
            try poll { load.count >= before + 300 }
            let outcome = load.stop()
            #expect(outcome.strange.isEmpty && outcome.refused == 0)
            #expect(try Replicas.hasKept(outcome, services[1]))
        }
    }

    @Test("One replica polls a source, and another replaces it after a kill", .onlyInFull)
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
                Replicas.settings + [
                    "sources.file=\(folder)/sources.yaml", "sources.allowed-networks=127.0.0.1/32", "sources.allowed-ports=\(origin.port)",
                ]
            let database = try PostgresServer.shared().makeDatabase()
            let one = try #require(try Replicas.start(1, of: database, settings: settings).first)
            _ = try one.process.line(containing: "source synchronised", timeout: 30_000)
            let two = try RunningService(settings: settings, database: database.uri)
            version.number.add(1, ordering: .relaxed)
            try poll { try two.get("/feed?limit=50").text.contains("Zora 1") }
            #expect(try two.get("/feed?limit=50").text.contains("Zora 1"))
            #expect(!two.process.lines.contains { $0.contains("source synchronised") })
            one.process.signal(SIGKILL)
            version.number.add(1, ordering: .relaxed)
            _ = try two.process.line(containing: "source synchronised", timeout: 30_000)
            try poll { try two.get("/feed?limit=50").text.contains("Zora 2") }
        }
    }

    @Test("All replicas adopt a rotated key without a restart, and old signatures stay valid", .onlyInFull)
    func rotated() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let settings = Replicas.settings.filter { $0 != "log.requests=false" } + ["events.address=hashed"]
            let (one, two) = try Replicas.start(2, of: database, settings: settings).pair
            let peer = try Self.peer(one)
            #expect(try Self.peer(two) == peer)
            let old = try Replicas.click(one)
            let next = try #require(try Replicas.page(one, "/feed?limit=2")["page"]?["next"]?.text)
            let image = try #require(try Self.image(one))
            let command = [
                "rotate-key", "--config", one.configurationFile, "--database", database.uri, "--set",
                "server.data-folder=\(one.folder)/new",
            ]
            let rotation = try Command.run(command)
            #expect(rotation.code == 0)
            // The command creates the folder of the audit log.
            let made = try FileManager.default.attributesOfItem(atPath: "\(one.folder)/new")
            #expect((made[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            // Simulates a delay of ten seconds.
            try database.psql("UPDATE signing_key SET made = made - interval '10 s'")
            for service in [one, two] {
                try poll { try Replicas.click(service) != old && Self.image(service) != image }
            }
            #expect(try Replicas.click(one) == Replicas.click(two))
            try poll { try Self.peer(one) != peer && Self.peer(one) == Self.peer(two) }
            for link in [old, try Replicas.click(one)] { for service in [one, two] { #expect(try service.get(link).status == 302) } }
            #expect(try two.get(next).status == 200)
            // Only the signature of the image matters here.
            for path in [image, try #require(try Self.image(one))] { #expect(try two.get(path).status != 403) }
            let again = try Command.run(command)
            #expect(again.code == 1 && again.lines.count == 1 && again.lines.first?.contains("--force") == true)
        }
    }

    @Test("A copy to PostgreSQL and back has the same pages, links and lists", .onlyInFull)
    func copied() async throws {
        try await offPool {
            // With rotation, two pages could belong to different hours.
            let settings = Replicas.settings + ["ads.rotation=listed"]
            let service = try RunningService(items: Replicas.items, settings: settings)
            let viewer = ["User-Agent: tests", "X-Viewer-ID: ann"]
            #expect(try service.ask("POST", "/cells/user:u3/dismissal", fields: viewer).status == 200)
            let click = try Replicas.click(service)
            let page = try service.get("/feed", fields: viewer).text
            service.process.signal(SIGTERM)
            #expect(service.process.wait() == 0)
            let database = try PostgresServer.shared().makeDatabase()
            let copy = try Command.run(["copy-store", "--from", service.database, "--to", database.uri])
            #expect(copy.code == 0 && copy.lines.contains("item: 14"), "\(copy.lines)")
            let replica = try RunningService(settings: settings, database: database.uri)
            #expect(try replica.get("/feed", fields: viewer).text == page && replica.get(click).status == 302)
            replica.process.signal(SIGTERM)
            #expect(replica.process.wait() == 0)
            let folder = "\(service.folder)/back"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let back = try Command.run(["copy-store", "--from", database.uri, "--to", "\(folder)/intertwine.sqlite"])
            #expect(back.code == 0 && back.lines.contains("event: 2"), "\(back.lines)")
            let last = try RunningService(in: folder, settings: settings)
            #expect(try last.get("/feed", fields: viewer).text == page && last.get(click).status == 302)
        }
    }

    /// Returns the client address in the access log.
    private static func peer(_ service: RunningService) throws -> String {
        let id = UUID().uuidString
        _ = try service.get("/healthz", fields: ["User-Agent: tests", "X-Request-ID: \(id)"])
        let line = try service.process.line(containing: id, timeout: 30_000)
        return try String(#require(line.split(separator: " ").first { $0.hasPrefix("peer=") }))
    }

    private static func image(_ service: RunningService) throws -> String? {
        let text = try service.get("/feed?limit=2").text
        return text.firstRange(of: "/images/A").map { String(text[$0.lowerBound...].prefix { $0 != "\"" }) }
    }
}
