import Foundation
import TestSupport
import Testing

@Suite("Stores with a missing, truncated or foreign part", .timeLimit(.untilStuck))
struct MissingPartTests {
    private static let parts = ["intertwine.sqlite", "intertwine.ledger.sqlite", "signing.key"]

    /// A folder for one test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path

        init(copyOf other: Folder? = nil) throws {
            try other.map { try FileManager.default.copyItem(atPath: $0.path, toPath: path) }
                ?? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try "".write(toFile: "\(path)/empty.yaml", atomically: true, encoding: .utf8)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Starts a service and clicks an ad.
        func serve(flags: [String] = []) throws -> RunningService {
            let database = "\(path)/intertwine.sqlite"
            if flags.isEmpty, !FileManager.default.fileExists(atPath: database) {
                _ = try RunningService.importItems(Items.users(3) + Items.advertisements(1), into: database, folder: path)
            }
            let service = try RunningService(in: path, flags: flags)
            try click(service)
            return service
        }

        func click(_ service: RunningService) throws {
            let page = try JSON(try service.get("/feed").text)
            guard let ad = page["cells"]?.list.first(where: { $0["id"]?.text == "ad:1" }) else { return }
            let link = try #require(ad["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get(link, fields: ["User-Agent: \(UUID())"]).status == 302)
        }

        func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

        func take(_ names: [String], from other: Folder) throws {
            for name in names {
                for file in [name, name + "-wal", name + "-shm"] { try? remove(file) }
                for file in [name, name + "-wal"] where FileManager.default.fileExists(atPath: "\(other.path)/\(file)") {
                    try FileManager.default.copyItem(atPath: "\(other.path)/\(file)", toPath: "\(path)/\(file)")
                }
            }
        }

        /// Returns the error line of a refused start; nil if the start succeeds.
        func refusal() throws -> String? {
            let process = try SpawnedProcess(
                [BuiltProduct.path("intertwine")] + RunningService.arguments(path, "\(path)/intertwine.sqlite"))
            while let line = try process.nextLine(timeout: 60_000) {
                if line.contains("service: listening on") {
                    process.signal(SIGTERM)
                    _ = process.wait()
                    return nil
                }
            }
            #expect(process.wait() == 1)
            let lines = process.lines.filter { $0.hasPrefix("Error: ") }
            #expect(lines.count == 1 && process.lines.count == 1, "\(process.lines)")
            return lines.first
        }
    }

    /// Expects that a start is refused with a reason, and that one start with the flag makes later starts succeed.
    private static func expect(_ folder: Folder, refused reason: String) throws {
        let line = try #require(try folder.refusal())
        #expect(line.contains(reason) && line.contains("--accept-data-loss"), "\(line)")
        let service = try folder.serve(flags: ["--accept-data-loss"])
        // The first check may take longer than a response waits.
        try poll { try service.get("/readyz").status == 200 }
        service.stop()
        #expect(try folder.refusal() == nil)
    }

    @Test("The start names a missing or empty part, after a kill or a stop", arguments: parts, [true, false])
    func gone(part: String, isKilled: Bool) async throws {
        try await offPool {
            let folder = try Folder()
            let service = try folder.serve()
            if isKilled { service.process.signal(SIGKILL) } else { service.stop() }
            _ = service.process.wait()
            try folder.take([part], from: try Folder())
            try Self.expect(folder, refused: part)
        }
    }

    @Test("Commands that read the ledger refuse a store without its ledger or its items", arguments: parts.dropLast())
    func commands(part: String) async throws {
        try await offPool {
            let folder = try Folder()
            try folder.serve().stop()
            try folder.remove(part)
            for command in [
                ["report"], ["export", "events"], ["tracker-calls"],
                ["void", "--from", "2026-11-21T00:00:00Z", "--until", "2026-11-22T00:00:00Z"],
            ] {
                let options = ["--config", "\(folder.path)/empty.yaml", "--database", "\(folder.path)/intertwine.sqlite"]
                let result = try Command.run(command + options)
                #expect(result.code == 1 && result.lines.contains { $0.contains("\(part) is missing") }, "\(command) \(result.lines)")
            }
        }
    }

    @Test("A start refuses a used folder without databases but accepts one with only a key")
    func bothDatabases() async throws {
        try await offPool {
            let folder = try Folder()
            try folder.serve().stop()
            for part in Self.parts.dropLast() { try folder.remove(part) }
            #expect(try #require(try folder.refusal()).contains("intertwine.ledger.sqlite are missing"))
            try folder.remove("audit.log")
            #expect(try folder.refusal() == nil)
        }
    }

    @Test("The start names a database that is empty", arguments: parts.dropLast())
    func empty(part: String) async throws {
        try await offPool {
            let folder = try Folder()
            try folder.serve().stop()
            try Data().write(to: URL(fileURLWithPath: "\(folder.path)/\(part)"))
            try Self.expect(folder, refused: "\(part) is empty")
        }
    }

    @Test("The start reports a truncated database as corrupt")
    func cut() async throws {
        try await offPool {
            let folder = try Folder()
            try folder.serve().stop()
            let path = "\(folder.path)/intertwine.ledger.sqlite"
            try Data(contentsOf: URL(fileURLWithPath: path)).prefix(9_000).write(to: URL(fileURLWithPath: path))
            #expect(try #require(try folder.refusal()).contains("intertwine.ledger.sqlite: is corrupt"))
        }
    }

    @Test("The start refuses a part of another store", arguments: parts)
    func foreign(part: String) async throws {
        try await offPool {
            let (folder, other) = (try Folder(), try Folder())
            try folder.serve().stop()
            try other.serve().stop()
            try folder.take([part], from: other)
            try Self.expect(folder, refused: "another")
        }
    }

    @Test("All files of one backup start, also with files of different times")
    func backups() async throws {
        try await offPool {
            let (folder, online) = (try Folder(), try Folder())
            let service = try folder.serve()
            for part in Self.parts.dropLast() {
                let shell = try SpawnedProcess(["/usr/bin/sqlite3", "\(folder.path)/\(part)", ".backup \(online.path)/\(part)"])
                #expect(shell.wait() == 0)
                try folder.click(service)
            }
            try online.take(["signing.key"], from: folder)
            service.stop()
            let offline = try Folder(copyOf: folder)
            try folder.serve().stop()
            for backup in [online, offline] {
                #expect(try backup.refusal() == nil)
                try folder.take(Self.parts, from: backup)
                #expect(try folder.refusal() == nil)
            }
            try folder.take(["intertwine.sqlite"], from: online)
            #expect(try folder.refusal() == nil)
            try folder.remove("signing.key")
            try Self.expect(folder, refused: "signing.key")
        }
    }
}
