import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The sample from outside")
struct SampleTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
    private var database: String { "\(folder)/data/intertwine.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
    }

    /// - Parameter ports: of the service and of the admin listener; free ones if nil.
    private func start(_ arguments: [String], ports: (UInt16, UInt16)? = nil) throws -> SpawnedProcess {
        let (port, adminPort) = try ports ?? (freePort(), freePort())
        let command = ["serve", "--sample", "--config", "\(folder)/empty.yaml", "--port", "\(port)", "--admin-port", "\(adminPort)"]
        // A temporary store can be found in the test's own folder.
        return try SpawnedProcess([BuiltProduct.path("intertwine")] + command + arguments, environment: ["TMPDIR": "\(folder)/"])
    }

    /// The lines and the exit code of a start that fails.
    private func refusal(_ arguments: [String], ports: (UInt16, UInt16)? = nil) throws -> (code: Int32, lines: [String]) {
        let process = try start(arguments, ports: ports)
        while try process.nextLine() != nil {}
        return (process.wait(), process.lines)
    }

    private func end(_ process: SpawnedProcess) throws {
        process.signal(SIGTERM)
        while try process.nextLine() != nil {}
        #expect(process.wait() == 0)
    }

    @Test("A missing or empty store gets the sample, and keeps it", arguments: [true, false])
    func fill(isThere: Bool) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let options = ["--database", database]
            if isThere {
                try FileManager.default.createDirectory(atPath: "\(folder)/data", withIntermediateDirectories: true)
                try RunningService(in: "\(folder)/data").stop()
            }
            let first = try start(options)
            _ = try first.line(containing: "Ctrl-C stops", timeout: 60_000)
            #expect(first.lines.contains("\(database): added 391, replaced 0, skipped 0"), "\(first.lines)")
            try end(first)
            let second = try start(options)
            _ = try second.line(containing: "Ctrl-C stops", timeout: 60_000)
            #expect(!second.lines.contains { $0.contains("added") }, "\(second.lines)")
            try end(second)
        }
    }

    @Test(
        "An interruption of the start removes the temporary store",
        arguments: TestSize.full([0, 100, 200, 400, 600, 800, 1200], small: [0, 200, 600]))
    func interrupted(milliseconds: UInt32) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let process = try start([])
            usleep(milliseconds * 1000)
            process.signal(SIGINT)
            while try process.nextLine() != nil {}
            let code = process.wait()
            #expect(code == 0 || code == -SIGINT, "\(process.lines)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("intertwine-sample") }
            #expect(left.isEmpty, "\(process.lines)")
        }
    }

    @Test("The printed commands succeed as they are, and the first page has users, an event and an ad of a campaign")
    func suggestions() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let port = try freePort()
            let process = try start([], ports: (port, try freePort()))
            _ = try process.line(containing: "Ctrl-C stops", timeout: 60_000)
            let commands = process.lines.filter { $0.hasPrefix("  curl ") }
            #expect(commands.count == 3)
            for command in commands {
                let run = try SpawnedProcess(["/bin/sh", "-c", command + " --silent --fail"])
                while try run.nextLine() != nil {}
                #expect(run.wait() == 0, "\(command): \(run.lines)")
            }
            let answer = try RunningService.ask(try RawClient(port: port), "GET", "/feed?limit=20", fields: ["X-Viewer-ID: me"])
            let cells = try JSON(answer.text)["cells"]?.list ?? []
            let kinds = cells.compactMap { $0["id"]?.text?.split(separator: ":").first }
            let counts = ["event", "article", "ad"].map { kind in kinds.count { $0 == kind } }
            #expect(kinds.first == "user" && counts == [5, 5, 2], "\(kinds)")
            let labels = cells.compactMap { $0["actions"]?["configuration"]?["bindings"]?["disclosure"]?["label"]?.text }
            #expect(labels.sorted() == ["Advertisement", "Sponsored"])
            // Authors, likes with counts, filters, and an item that is not public yet.
            let client = try RawClient(port: port)
            for slot in ["like", "follow"] {
                let path = "/cells/article:sourdough/\(slot)"
                #expect(try RunningService.ask(client, "POST", path, fields: ["X-Viewer-ID: me"]).status == 200)
            }
            try poll {
                let followed = try RunningService.ask(client, "GET", "/feeds/following", fields: ["X-Viewer-ID: me"])
                return followed.text.contains("Glasses · 4 min · ♥\u{A0}1")
            }
            let filtered = try JSON(try RunningService.ask(client, "GET", "/feed?topic=food&city=Lisbon").text)["cells"]?.list ?? []
            #expect(filtered.compactMap { $0["id"]?.text }.filter { !$0.hasPrefix("ad:") } == ["event:night-market"])
            #expect(try RunningService.ask(client, "GET", "/cells/event:new-year-concert").status == 404)
            let event = try #require(cells.first { $0["id"]?.text == "event:open-air-cinema" })
            #expect(event["actions"]?["like"] != nil && event["actions"]?["report"]?["input"] != nil)
            #expect(!process.lines.joined().contains("%20"), "no command needs percent-encoding")
            try end(process)
        }
    }

    @Test("A temporary store is removed at the end")
    func temporary() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            func stores() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("intertwine-sample-") }
            }
            let process = try start([])
            _ = try process.line(containing: "Ctrl-C stops", timeout: 60_000)
            #expect(try stores().count == 1)
            try end(process)
            #expect(try stores().isEmpty)
        }
    }

    @Test("A store with the imported users and ads gets the other items, and keeps changed and own ones")
    func imported() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let sample = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/IntertwineSample/files/feed.json")
                .standardized.path
            let changes = "\(folder)/changes.ndjson"
            try (Items.user("glasses") + Items.user("ada")).write(toFile: changes, atomically: true, encoding: .utf8)
            for file in [sample, changes] {
                let run = try Command.run([
                    "import", "--foreground", "--config", "\(folder)/empty.yaml", "--database", database, file,
                ])
                #expect(run.code == 0, "\(run.lines)")
            }
            let port = try freePort()
            let first = try start(["--database", database], ports: (port, try freePort()))
            _ = try first.line(containing: "Ctrl-C stops", timeout: 60_000)
            #expect(first.lines.contains("\(database): added 15, replaced 0, skipped 0"), "\(first.lines)")
            let client = try RawClient(port: port)
            #expect(try RunningService.ask(client, "GET", "/cells/event:open-air-cinema").status == 200)
            for id in ["glasses", "ada"] {
                #expect(try RunningService.ask(client, "GET", "/cells/user:\(id)").text.contains("\"User \(id)\""))
            }
            try end(first)
            let second = try start(["--database", database])
            _ = try second.line(containing: "Ctrl-C stops", timeout: 60_000)
            #expect(!second.lines.contains { $0.contains("added") }, "\(second.lines)")
            try end(second)
        }
    }

    @Test("A store with other items is refused, and stays as it is", .enabled(if: !RunningService.usesPostgreSQL, "the sample has a file"))
    func otherItems() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let service = try RunningService(items: Items.users(2))
            let page = try service.get("/feed").text
            let refused = try refusal(["--database", service.database])
            #expect(
                refused.code == 1 && refused.lines == ["Error: \(service.database): has other items; name another store with --database"])
            #expect(try service.get("/feed").text == page)
        }
    }

    @Test("A missing folder is named in one line")
    func missingFolder() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let refused = try refusal(["--database", "\(folder)/other/intertwine.sqlite"])
            #expect(refused.code == 1 && refused.lines.count == 1, "\(refused.lines)")
            #expect(refused.lines.first?.hasPrefix("Error: \(folder)/other: ") == true, "\(refused.lines)")
        }
    }

    @Test("A busy port stops the start with one line, and creates no store", arguments: [true, false])
    func busyPort(isAdmin: Bool) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let service = try RunningService(items: Items.users(1))
            let free = try freePort()
            let ports = isAdmin ? (free, service.port) : (service.port, free)
            let refused = try refusal(["--database", database], ports: ports)
            #expect(
                refused.lines == ["Error: 127.0.0.1:\(service.port) is in use: select other ports with --port and --admin-port"],
                "\(refused.lines)")
            #expect(refused.code == 1 && !FileManager.default.fileExists(atPath: "\(folder)/data"))
        }
    }
}
