import Foundation
import TestSupport
import Testing

@Suite("Replicas after a failover, and with a suspended leader", .onlyInFull, .serialized, .timeLimit(.untilStuck))
struct ReplicaFailoverTests {
    private static let body = #"{"username":"Renamed","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    @Test("No replica uses an old primary that returns, and each logs it once")
    func oldPrimary() async throws {
        try await offPool {
            let old = try PostgresServer()
            let database = try old.makeDatabase()
            let new = try PostgresServer(standbyOf: old)
            let places = [old, new].map { "\($0.folder.replacing("/", with: "%2F")):\($0.port)" }.joined(separator: ",")
            let address = "postgresql://intertwine@\(places)/\(database.name)?target_session_attrs=read-write"
            let services = try Replicas.start(2, at: address)
            let link = try Replicas.click(services[0])
            // A click without a viewer would make later clicks from its address duplicates.
            let before = ["User-Agent: tests", "X-Viewer-ID: before"]
            for service in services { #expect(try service.get(link, fields: before).status == 302) }
            try poll {
                try database.psql("SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_lsn()") == "1"
            }
            try old.stop()
            try new.promote()
            try poll {
                try services.allSatisfy { try $0.get(link, fields: before).status == 302 && $0.get("/readyz").status == 200 }
            }
            try old.start()
            let kept = try database.psql("SELECT count(*) FROM event")

            func promoted(_ sql: String) throws -> String {
                let psql = try SpawnedProcess(["/usr/bin/psql", "-X", "-q", "-A", "-t", "-c", sql, new.uri(of: database.name)])
                while try psql.nextLine(timeout: 30_000) != nil {}
                #expect(psql.wait() == 0)
                return psql.lines.joined(separator: "\n")
            }
            for number in 0..<10 {
                // The address lists the old primary first, and each session must connect again.
                _ = try promoted(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'intertwine%' AND pid <> pg_backend_pid()"
                )
                let viewer = ["User-Agent: tests", "X-Viewer-ID: after \(number)"]
                for service in services { try poll { try service.get(link, fields: viewer).status == 302 } }
            }
            try poll {
                try services[0].admin("PUT", "/admin/items/user/u1", with: ["If-Match: *"], body: Self.body).status == 200
            }
            let third = try RunningService(settings: Replicas.settings, database: address)
            for service in services + [third] {
                for _ in 0..<10 { try poll { try service.get("/feed").text.contains("Renamed") } }
            }
            #expect(try database.psql("SELECT count(*) FROM event") == kept)
            #expect(try database.psql("SELECT count(*) FROM item WHERE body LIKE '%Renamed%'") == "0")
            let counted = try promoted(
                "SELECT count(*), count(DISTINCT viewer) FROM event WHERE viewer LIKE 'after%' AND verdict = 'counted'")
            #expect(counted == "10|10", "\(counted)")
            for service in services {
                _ = try service.process.line(containing: "is an old primary", timeout: 30_000)
                #expect(service.process.lines.count { $0.contains("is an old primary") } == 1)
            }
        }
    }

    @Test("Another replica replaces a suspended leader within 15 seconds")
    func frozenLeader() async throws {
        try await offPool {
            let origin = try Origin { _, connection in
                connection.answer(
                    200, body: Array(#"{"people":[{"key":"s1","name":"Zora","face":"https://example.com/1.png"}]}"#.utf8))
            }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-sources-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try """
            sources:
              people:
                url: \(origin.url("/people"))
                kind: user
                every: 1h
                items: /people
                fields: {id: key, username: name, avatarUrl: face, type: {value: regular}}
            """.write(toFile: "\(folder)/sources.yaml", atomically: true, encoding: .utf8)
            let settings =
                Replicas.settings + [
                    "sources.file=\(folder)/sources.yaml", "sources.allowed-networks=127.0.0.1/32", "sources.allowed-ports=\(origin.port)",
                ]
            let database = try PostgresServer.shared().makeDatabase()
            let leader = try #require(try Replicas.start(1, of: database, settings: settings).first)
            _ = try leader.process.line(containing: "source synchronised", timeout: 30_000)
            let other = try RunningService(settings: settings, database: database.uri)
            // The leader sends heartbeats between two fetches that are an hour apart.
            let held = """
                SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE application_name = 'intertwine leader' AND locktype = 'advisory' AND granted AND datname = current_database()
                """
            let owner = held.replacing("count(*)", with: "pid")
            let first = try database.psql(owner)
            let start = try #require(Int(try database.psql("SELECT extract(epoch FROM clock_timestamp())::int")))
            try poll { try database.psql("SELECT extract(epoch FROM clock_timestamp()) > \(start + 8)") == "t" }
            #expect(try database.psql(owner) == first && !first.isEmpty)
            try database.psql("DELETE FROM source_item; DELETE FROM item WHERE id = 's1'")
            leader.process.signal(SIGSTOP)
            defer { leader.process.signal(SIGCONT) }
            let frozen = ContinuousClock.now
            _ = try other.process.line(containing: "source synchronised", timeout: 30_000)
            #expect(frozen.duration(to: .now) < MachineSpeed.bound(.seconds(15)))
            leader.process.signal(SIGCONT)
            try poll { try leader.get("/feed").status == 200 }
            #expect(try database.psql(held) == "1")
        }
    }

    @Test("A copy fails while a service uses the source or the target")
    func copyBesideServices() async throws {
        try await offPool {
            let settings = Replicas.settings + ["ads.rotation=listed"]
            let file = try RunningService(in: try Self.folder("file"), settings: settings)
            defer { try? FileManager.default.removeItem(atPath: file.folder) }
            let database = try PostgresServer.shared().makeDatabase()
            func copy(_ from: String, _ to: String) throws -> (code: Int32, lines: [String]) {
                let result = try Command.run(["copy-store", "--from", from, "--to", to])
                return (result.code, result.lines)
            }
            let fromRunning = try copy(file.database, database.uri)
            #expect(fromRunning.code == 1 && fromRunning.lines.count == 1 && fromRunning.lines.first?.contains("in use") == true)
            file.process.signal(SIGTERM)
            #expect(file.process.wait() == 0)
            let replica = try RunningService(settings: settings, database: database.uri)
            let toRunning = try copy(file.database, database.uri)
            #expect(toRunning.code == 1 && toRunning.lines.count == 1 && toRunning.lines.first?.contains("in use") == true)
            let back = try copy(database.uri, "\(try Self.folder("back"))/intertwine.sqlite")
            #expect(back.code == 1 && back.lines.count == 1 && back.lines.first?.contains("in use") == true)
            replica.process.signal(SIGTERM)
            #expect(replica.process.wait() == 0)
            let empty = try PostgresServer.shared().makeDatabase()
            let done = try copy(file.database, empty.uri)
            #expect(done.code == 0, "\(done.lines)")
        }
    }

    private static func folder(_ name: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(name)-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}
