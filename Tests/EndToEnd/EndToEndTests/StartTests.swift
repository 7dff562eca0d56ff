import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Start and stop from outside")
struct StartTests {
    private static func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Runs `serve` with invalid arguments, and expects one line and a nonzero exit code.
    private static func refusal(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let result = try Command.run(["serve", "--port", "0", "--admin-port", "0"] + arguments, environment: environment)
        #expect(result.code != 0)
        #expect(result.lines.count == 1, "\(result.lines)")
        return result.lines.first ?? ""
    }

    @Test("An unusable database path stops the start with one line and changes no file")
    func unusableStores() async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            #expect(try Self.refusal(["--database", "\(folder)/none/x.sqlite"]).contains("does not exist"))
            let text = "\(folder)/text.sqlite"
            try String(repeating: "not a database ", count: 100).write(toFile: text, atomically: true, encoding: .utf8)
            #expect(try Self.refusal(["--database", text]).contains(text))
            #expect(try String(contentsOfFile: text, encoding: .utf8).hasPrefix("not a database"))
            #expect(try Self.refusal(["--database", folder]).contains(folder))
        }
    }

    @Test("An invalid key, value, flag or file stops the start with its name")
    func wrongSettings() async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let file = "\(folder)/x.yaml"
            try "server:\n  prot: 1\n".write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try Self.refusal(["--config", file]).contains("server.prot: unknown key"))
            #expect(try Self.refusal(["--set", "ads.scope=row"]).contains("allowed: page, feed"))
            #expect(try Self.refusal(["--config", "\(folder)/none.yaml"]).contains("cannot be read"))
            #expect(try Self.refusal([], environment: ["INTERTWINE_SERVER_PROT": "1"]).contains("INTERTWINE_SERVER_PROT"))
            let actions = ["--database", "\(folder)/x.sqlite", "--set", "actions.user.selection=analytics,nonsense"]
            #expect(try Self.refusal(actions).contains("unknown command 'nonsense'"))
            let viewerless = ["--database", "\(folder)/x.sqlite", "--set", "viewers.header=", "--set", "actions.user.dismissal="]
            #expect(try Self.refusal(viewerless).contains("command 'dismiss' in"))
            let unknown = try Command.run(["serve", "--prot", "1"])
            #expect(unknown.code != 0 && unknown.lines.first?.contains("--prot") == true)
        }
    }

    @Test("The service works with the maximum of every duration")
    func longDurations() async throws {
        try await offPool {
            let keys = [
                "server.shutdown-timeout", "ledger.retention", "feed.max-age", "actions.undo-window", "events.click-window",
                "events.token-lifetime",
                "images.queue-timeout", "images.abandon-delay", "images.fetch-timeout", "cors.max-age",
            ]
            let service = try RunningService(
                items: Items.user("u").replacing("https://pictures.example.com", with: "http://127.0.0.1") + Items.advertisements(1),
                settings: keys.map { "\($0)=3650d" } + ["images.allowed-networks=127.0.0.0/8"])
            let page = try service.get("/feed")
            #expect(page.status == 200)
            let cells = try #require(try JSON(page.text)["cells"])
            let click = try #require(cells.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get(click).status == 302)
            #expect(try service.ask("POST", "/cells/user:u/selection").status == 200)
            let image = try #require(
                cells.list.first { $0["id"]?.text == "user:u" }?["actions"]?["configuration"]?["bindings"]?["avatar"]?["href"]?.text)
            _ = try service.get(image)
            #expect(try service.get("/healthz").status == 200)
        }
    }

    @Test("A busy port stops the start with one line that names the address")
    func busyPort() async throws {
        try await offPool {
            let service = try RunningService()
            let result = try Command.run([
                "serve", "--config", "\(service.folder)/empty.yaml", "--port", "\(service.port)", "--admin-port", "0", "--database",
                "\(service.folder)/other.sqlite",
            ])
            #expect(result.code != 0)
            let errors = result.lines.filter { !$0.contains(" info ") }
            #expect(errors.count == 1 && errors[0].contains("127.0.0.1:\(service.port)"), "\(result.lines)")
            #expect(try service.get("/healthz").status == 200)
        }
    }

    private static let sections = """
        kinds:
          club:
            fields: {name: {type: text, required: true}, site: {type: url, required: true}}
            destination: site
            cells: {collection: {identifier: ClubCell, size: 300x160, bind: {name: {text: name}}}}
            actions: {selection: [analytics, clickthrough]}
        sections:
          people: {kinds: [user]}
        feeds:
          main: [main, people]

        """

    @Test("A failed start writes nothing, and import and schema report the same errors")
    func nothingWritten() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let (kinds, sources) = ("\(service.folder)/kinds.yaml", "\(service.folder)/sources.yaml")
            let common = ["--config", "\(service.folder)/empty.yaml", "--database", service.database, "--set", "kinds.file=\(kinds)"]
            let serve = ["serve", "--port", "0", "--admin-port", "0"] + common
            let tag = try #require(try service.get("/feed")["etag"])
            func expectRefusal(_ arguments: [String], _ words: String) throws {
                let result = try Command.run(arguments)
                // Information lines may precede the error: the image worker starts in parallel.
                let errors = result.lines.filter { !$0.contains(" info ") }
                #expect(result.code != 0 && errors.count == 1 && errors[0].contains(words), "\(words): \(result.lines)")
                #expect(try service.get("/feed", fields: ["User-Agent: tests", "If-None-Match: \(tag)"]).status == 304, "\(words)")
            }
            let file = "\(service.folder)/club.ndjson"
            try #"{"kind":"club","id":"c","name":"Club","site":"https://example.com/"}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            for (old, new, words) in [
                ("[analytics, clickthrough]", "[nope]", "kinds.yaml:6:15: unknown command 'nope'"),
                ("destination: site\n", "destination: site\n    prefix: user\n", "kinds.yaml:5:"),
                ("    destination: site\n", "", "kinds.yaml:5:"),
            ] {
                try Self.sections.replacing(old, with: new).write(toFile: kinds, atomically: true, encoding: .utf8)
                for arguments in [serve, ["import"] + common + [file], ["schema", "club"] + common.suffix(2)] {
                    try expectRefusal(arguments, words)
                }
            }
            try Self.sections.write(toFile: kinds, atomically: true, encoding: .utf8)
            try "sources: 5\n".write(toFile: sources, atomically: true, encoding: .utf8)
            try expectRefusal(serve + ["--set", "sources.file=\(sources)"], "sources.yaml:1:")
            try expectRefusal(serve + ["--set", "viewers.header=", "--set", "actions.user.dismissal="], "'dismiss'")
            try expectRefusal(["serve", "--port", "\(service.port)", "--admin-port", "0"] + common, "in use")
            try expectRefusal(["serve", "--port", "0", "--admin-port", "\(service.adminPort)"] + common, "in use")
            // With valid files, the start creates the sections before the first response.
            let other = try SpawnedProcess([BuiltProduct.path("intertwine")] + serve)
            let line = try other.line(containing: "service: listening on")
            let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
            let page = try RunningService.ask(RawClient(port: port), "GET", "/feed")
            #expect(try JSON(page.text)["page"]?["sections"]?.list.compactMap(\.text) == ["people"])
            other.signal(SIGTERM)
            #expect(other.wait() == 0)
        }
    }

    @Test("SIGTERM and SIGINT end the service with code 0 after pending responses", arguments: [SIGTERM, SIGINT])
    func stopping(signal: Int32) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let client = try RawClient(port: service.port)
            try client.send("GET /feed HTTP/1.1\r\nHost: a\r\n")
            service.process.signal(signal)
            // The client completes the request after the service stops listening: the connection was not idle.
            try poll { (try? RawClient(port: service.port)) == nil }
            try client.send("\r\n")
            let response = try client.response()
            #expect(response.status == 200 && response.closes)
            #expect(service.process.wait() == 0)
        }
    }

    @Test("The operators' listener answers during a stop: not ready, but alive")
    func draining() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let client = try RawClient(port: service.port)
            try client.send("GET /feed HTTP/1.1\r\nHost: a\r\n")
            service.process.signal(SIGTERM)
            try poll { (try? RawClient(port: service.port)) == nil }
            #expect(["/readyz", "/healthz", "/metrics"].map { try? service.admin("GET", $0, fields: []).status } == [503, 200, 200])
            try client.send("\r\n")
            #expect(try client.response().status == 200)
            #expect(service.process.wait() == 0)
        }
    }

    @Test(
        "The help of each subcommand has an example",
        arguments: TestSize.full(
            [
                "serve", "health", "import", "sync", "report", "export", "export events", "image-url", "schema", "check-config", "forecast",
            ], small: ["serve", "export events"]))
    func help(subcommand: String) async throws {
        try await offPool {
            let help = try Command.run(["help"] + subcommand.split(separator: " ").map(String.init))
            #expect(
                help.code == 0 && help.lines.contains { $0.hasPrefix("  ") && $0.contains("intertwine \(subcommand)") }, "\(help.lines)")
        }
    }

    @Test("The signing key is private to its owner, and links survive a restart")
    func signingKey() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3) + Items.advertisement(1))
            let page = try service.get("/feed?limit=1")
            let next = try #require(try JSON(page.text)["page"]?["next"]?.text)
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(service.folder)/signing.key")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try service.killAndRestart()
            #expect(try service.get(next).status == 200)
            try "not a key".write(toFile: "\(service.folder)/signing.key", atomically: true, encoding: .utf8)
            let result = try Command.run([
                "serve", "--config", "\(service.folder)/empty.yaml", "--port", "0", "--admin-port", "0", "--database", service.database,
            ])
            #expect(result.code != 0 && result.lines.first?.contains("64 hexadecimal digits") == true)
        }
    }

    @Test("An import stops and reverts at an invalid item, or skips and reports it")
    func importing() async throws {
        try await offPool {
            let service = try RunningService()
            let items =
                Items.user("a") + #"{"kind":"user","username":"x","avatarUrl":"ftp://x","type":"regular"}"# + "\n" + Items.user("b")
            let file = "\(service.folder)/items.ndjson"
            try items.write(toFile: file, atomically: true, encoding: .utf8)
            let common = ["--config", "\(service.folder)/empty.yaml", "--database", service.database]
            let stopped = try Command.run(["import", "--foreground"] + common + [file])
            #expect(stopped.code != 0)
            #expect(stopped.lines.contains { $0.contains("line 2: avatarUrl") && $0.contains("nothing was imported") }, "\(stopped.lines)")
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.isEmpty == true)
            let skipped = try Command.run(["import", "--foreground"] + common + ["--on-error", "skip", file])
            #expect(skipped.code == 0 && skipped.lines.contains("\(service.database): added 2, replaced 0, skipped 1"), "\(skipped.lines)")
            let sample = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/IntertwineSample/files/feed.json")
                .standardized.path
            let array = try Command.run(["import", "--foreground"] + common + [sample])
            #expect(array.code == 0 && array.lines.last?.hasPrefix("\(service.database): added 376") == true, "\(array.lines)")
            #expect(try Command.run(["import", "--foreground"] + common + ["\(service.folder)/none"]).code != 0)
        }
    }

    @Test("The service handles a signal right after its first response", arguments: [SIGTERM, SIGHUP])
    func earlySignals(number: Int32) async throws {
        try await offPool {
            for _ in 0..<TestSize.full(8, small: 2) {
                let service = try RunningService()
                // The start can be slow on a busy machine.
                try poll { try service.get("/readyz").status == 200 }
                service.process.signal(number)
                if number == SIGHUP {
                    _ = try service.process.line(containing: "configuration reloaded")
                    service.process.signal(SIGTERM)
                }
                #expect(service.process.wait() == 0)
            }
        }
    }

    @Test(
        "Too few descriptors stop the start with one line",
        arguments: TestSize.full([8, 10, 12, 16, 20, 24, 28, 30, 31, 32, 33, 34, 35, 36, 40], small: [8, 20, 33, 40]))
    func descriptors(limit: Int) async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try "".write(toFile: "\(folder)/x.yaml", atomically: true, encoding: .utf8)
            let command = "'\(BuiltProduct.path("intertwine"))' serve --config x.yaml --port 0 --admin-port 0 --database x.sqlite"
            let process = try SpawnedProcess(["/bin/sh", "-c", "cd '\(folder)'; ulimit -n \(limit); exec \(command)"])
            while try process.nextLine() != nil {}
            #expect(process.wait() > 0 && process.lines.count == 1 && process.lines[0].contains("(ulimit -n)"), "\(process.lines)")
        }
    }

    @Test("The start and the import create the missing data folder", arguments: ["serve", "import /dev/null"])
    func dataFolder(command: String) async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try "".write(toFile: "\(folder)/x.yaml", atomically: true, encoding: .utf8)
            let options = command == "serve" ? "--port 0 --admin-port 0" : ""
            let process = try SpawnedProcess([
                "/bin/sh", "-c", "cd '\(folder)'; exec '\(BuiltProduct.path("intertwine"))' \(command) --config x.yaml \(options)",
            ])
            if command == "serve" {
                _ = try process.line(containing: "service: listening on")
                process.signal(SIGTERM)
            }
            while try process.nextLine() != nil {}
            #expect(process.wait() == 0, "\(process.lines)")
            #expect(FileManager.default.fileExists(atPath: "\(folder)/data/intertwine.sqlite"))
        }
    }

    @Test("A drain returns 503 only for /readyz and closes connections after responses")
    func drains() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: ["server.shutdown-delay=1500ms"])
            let before = try RawClient(port: service.port)
            #expect(try RunningService.ask(before, "GET", "/readyz").status == 200)
            let start = ContinuousClock.now
            service.process.signal(SIGTERM)
            var ready: RawResponse
            repeat {
                ready = try RunningService.ask(try RawClient(port: service.port), "GET", "/readyz")
            } while ready.status != 503 || !ready.closes
            #expect(ready.status == 503 && ready["retry-after"] == "1")
            #expect(try RunningService.ask(try RawClient(port: service.adminPort), "GET", "/readyz").status == 503)
            let served = try RunningService.ask(before, "GET", "/feed")
            #expect(served.status == 200 && served.closes)
            let selected = try RunningService.ask(try RawClient(port: service.port), "POST", "/cells/user:u0/selection")
            #expect(selected.status == 200 && selected.closes)
            #expect(try service.ask("GET", "/healthz").status == 200)
            #expect(service.process.wait() == 0)
            #expect(ContinuousClock.now - start >= .milliseconds(1500))
            #expect((try? RawClient(port: service.port)) == nil)
        }
    }

    @Test("Bodies of many connections stay within the memory limit, and the memory is released")
    func memory() async throws {
        try await offPool {
            let service = try RunningService(settings: ["limits.total-body-bytes=16MiB", "limits.connections-per-peer=1000"])
            let base = service.process.residentKilobytes
            let body = [UInt8](repeating: 0x20, count: 500_000)
            var clients: [RawClient] = []
            for _ in 0..<120 {
                let client = try RawClient(port: service.port)
                client.sendIgnoringClose(
                    Array("POST /events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 500001\r\n\r\n".utf8))
                client.sendIgnoringClose(body)
                clients.append(client)
            }
            #expect(try RunningService.ask(try RawClient(port: service.port), "GET", "/feed").status == 200)
            #expect(service.process.residentKilobytes - base < 40 << 10)
            var answers: [[UInt8]] = []
            for _ in 0..<100 where answers.count <= 60 {
                answers += clients.compactMap { try? $0.bytes(within: 1) }.filter { !$0.isEmpty }
            }
            #expect(answers.count > 60 && answers.allSatisfy { String(decoding: $0, as: UTF8.self).hasPrefix("HTTP/1.1 503 ") })
            for client in clients { client.close() }
            for _ in 0..<100 where service.process.residentKilobytes - base > 12 << 10 { usleep(100_000) }
            #expect(service.process.residentKilobytes - base <= 12 << 10)
            #expect(try service.ask("POST", "/events", body: #"{"events":[]}"#).status == 200)
        }
    }
}
