import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Configuration changes of a running service")
struct ReloadTests {
    private static func write(_ text: String, for service: RunningService) throws {
        try text.write(toFile: service.configurationFile, atomically: true, encoding: .utf8)
    }

    @Test("SIGHUP applies valid changes, names settings that need a restart, and rejects invalid files")
    func signal() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(4) + Items.advertisements(3))
            func ads() throws -> Int {
                try JSON(try service.get("/feed").text)["cells"]?.list.filter { $0["id"]?.text?.hasPrefix("ad:") == true }.count ?? -1
            }
            #expect(try ads() == 1)
            try Self.write("ads:\n  per-page: 3\nlimits:\n  connections: 77\n", for: service)
            service.process.signal(SIGHUP)
            let changed = try service.process.line(containing: "configuration reloaded")
            #expect(changed.contains("ads.per-page"))
            #expect(try service.process.line(containing: "require a restart").contains("limits.connections"))
            #expect(try ads() == 3)
            try Self.write("ads:\n  per-page: many\n", for: service)
            service.process.signal(SIGHUP)
            #expect(try service.process.line(containing: "not applied").contains("ads.per-page: 'many'"))
            try Self.write("events:\n  token-lifetime: 153722867280912min\n", for: service)
            service.process.signal(SIGHUP)
            #expect(try service.process.line(containing: "events.token-lifetime: '153722867280912min'").contains("not applied"))
            #expect(try ads() == 3)
        }
    }

    @Test("A saved file applies without a signal, and changes the log's format and level")
    func file() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            try Self.write("log:\n  format: json\n", for: service)
            let changed = try JSON(try service.process.line(containing: "configuration reloaded"))
            #expect(changed["changed"]?.text == "log.format")
            _ = try service.get("/feed")
            #expect(try service.process.line(containing: "\"/feed\"").hasPrefix("{"))
            try Self.write("log:\n  format: json\n  level: notice\n", for: service)
            while try service.process.nextLine()?.contains("\"log.level\"") == false {}
            let before = service.process.lines.count
            _ = try service.get("/feed")
            service.process.signal(SIGTERM)
            while try service.process.nextLine() != nil {}
            #expect(!service.process.lines.dropFirst(before).contains { $0.contains("/feed") })
        }
    }

    @Test(
        "An empty configuration file does not change the configuration")
    func emptied() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(4) + Items.advertisements(3))
            func ads() throws -> Int {
                try JSON(try service.get("/feed").text)["cells"]?.list.filter { $0["id"]?.text?.hasPrefix("ad:") == true }.count ?? -1
            }
            try Self.write("ads:\n  per-page: 3\n", for: service)
            service.process.signal(SIGHUP)
            _ = try service.process.line(containing: "configuration reloaded")
            #expect(try ads() == 3)
            for (content, isWatched) in [("", false), ("\n", true), ("\u{FEFF}", false), ("\u{FEFF}\n", true)] {
                let before = service.process.lines.count
                // Writes in place, like a shell redirection.
                try content.write(toFile: service.configurationFile, atomically: false, encoding: .utf8)
                if !isWatched { service.process.signal(SIGHUP) }
                while !service.process.lines.dropFirst(before).contains(where: { $0.contains("is empty") }) {
                    _ = try #require(try service.process.nextLine())
                }
                #expect(service.process.lines.last?.contains("not applied") == true)
                #expect(try ads() == 3)
            }
            try Self.write("# nothing\n", for: service)
            let before = service.process.lines.count
            while !service.process.lines.dropFirst(before).contains(where: { $0.contains("changed=ads.per-page") }) {
                _ = try #require(try service.process.nextLine())
            }
            #expect(try ads() == 1)
        }
    }

    @Test("A pipe instead of the configuration file does not block a reload or a stop")
    func pipe() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            #expect(unlink(service.configurationFile) == 0 && mkfifo(service.configurationFile, 0o600) == 0)
            service.process.signal(SIGHUP)
            #expect(try service.process.line(containing: "not applied").contains("not a regular file"))
            #expect(unlink(service.configurationFile) == 0)
            try Self.write("ads:\n  per-page: 3\n", for: service)
            #expect(try service.process.line(containing: "configuration reloaded").contains("ads.per-page"))
            #expect(unlink(service.configurationFile) == 0 && mkfifo(service.configurationFile, 0o600) == 0)
            service.process.signal(SIGTERM)
            #expect(service.process.wait() == 0)
        }
    }

    @Test("A change of the viewer field changes the fields of preflight responses")
    func preflights() async throws {
        try await offPool {
            let service = try RunningService(settings: ["cors.origins=https://app.example.com"])
            func allowed() throws -> [Substring] {
                let fields = ["Origin: https://app.example.com", "Access-Control-Request-Method: POST"]
                return try service.ask("OPTIONS", "/events", fields: fields)["access-control-allow-headers"]?.split(separator: ", ") ?? []
            }
            #expect(try allowed().contains("X-Viewer-ID"))
            try Self.write("viewers:\n  header: X-Member\n", for: service)
            service.process.signal(SIGHUP)
            _ = try service.process.line(containing: "configuration reloaded")
            #expect(try allowed().contains("X-Member") && !allowed().contains("X-Viewer-ID"))
        }
    }

    @Test("Reloads under load fail no request")
    func underLoad() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(30) + Items.advertisements(3),
                settings: ["log.requests=false", "limits.requests-per-connection=1000000", "limits.writes-per-address=1000000"])
            let stop = Atomic(false)
            let answered = Atomic(0)
            let failed = Mutex<[String]>([])
            let group = DispatchGroup()
            let port = service.port
            for client in 0..<4 {
                DispatchQueue(label: "client \(client)").async(group: group) {
                    do {
                        let connection = try RawClient(port: port)
                        var number = 0
                        while !stop.load(ordering: .relaxed) {
                            number += 1
                            let (method, path) = number % 3 == 0 ? ("POST", "/cells/user:u\(number % 30)/selection") : ("GET", "/feed")
                            let response = try RunningService.ask(connection, method, path)
                            guard response.status == 200 else { throw RawClientError.system(response.text, Int32(response.status)) }
                            answered.add(1, ordering: .relaxed)
                        }
                    } catch {
                        failed.withLock { $0.append("client \(client): \(error)") }
                    }
                }
            }
            for round in 1...20 {
                try Self.write("ads:\n  per-page: \(round % 4)\nevents:\n  click-rate: \(100 + round)\n", for: service)
                service.process.signal(SIGHUP)
                // The rate differs in each round, so the line belongs to this round.
                while try service.process.nextLine()?.contains("events.click-rate") == false {}
                let before = answered.load(ordering: .relaxed)
                while answered.load(ordering: .relaxed) < before + 20, failed.withLock({ $0.isEmpty }) { usleep(1_000) }
            }
            stop.store(true, ordering: .relaxed)
            group.wait()
            #expect(failed.withLock { $0 } == [])
            #expect(answered.load(ordering: .relaxed) >= 400)
        }
    }
}
