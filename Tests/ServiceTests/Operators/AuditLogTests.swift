import Foundation
import IntertwineFeed
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Audit log")
struct AuditLogTests {
    private static func entry(_ path: String) -> AuditEntry {
        AuditEntry(who: "loopback", method: "PUT", path: path, outcome: "", now: 1_795_251_600_000)
    }

    /// A new folder and the path of the log in it.
    private static func withLog(_ body: (_ folder: String, _ path: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder, "\(folder)/audit.log")
    }

    private static func lines(_ path: String) throws -> [AuditEntry] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(AuditEntry.self, from: Data($0.utf8))
        }
    }

    private static func journals(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("audit.pending-") }
    }

    @Test("An audit line is JSON with the members of the entry in alphabetical order")
    func line() throws {
        var entry = Self.entry("/admin/items/user/a\"b\\c\u{1}/ü?x=\u{2028}\n")
        for round in 0..<2 {
            let text = try #require(String(validating: entry.line, as: UTF8.self))
            #expect(try JSONDecoder().decode(AuditEntry.self, from: Data(text.utf8)) == entry)
            #expect(text.hasSuffix("}\n") && text.dropLast().allSatisfy { $0 != "\n" })
            let names = ["changes", "id", "items", "method", "outcome", "path", "status", "time", "who"]
            let starts = names.compactMap { text.firstRange(of: "\"\($0)\":")?.lowerBound }
            #expect(starts == starts.sorted() && starts.count == (round == 0 ? 5 : 9))
            (entry.changes, entry.items, entry.id, entry.status) = (["b": 1, "a": 2], ["user:a", "user:\"b"], "7", 200)
        }
    }

    @Test("Concurrent operations each have one complete line across restarts, readable only by the owner")
    func appends() async throws {
        try await Self.withLog { folder, path in
            for round in 0..<2 {
                let log = try AuditLog(path: path)
                try await withThrowingTaskGroup { group in
                    for number in 0..<20 {
                        group.addTask {
                            let note = AuditContext()
                            let deed = try await log.begin(Self.entry("/\(round)/\(number)\n\""))
                            note.record(["removed": number], items: (0..<number).map { "user:\($0)" })
                            try await log.finish(deed, status: 200, outcome: "done", context: note, now: 0)
                        }
                    }
                    try await group.waitForAll()
                }
                log.refuse(Self.entry("/\(round)/refused"))
                await log.close()
            }
            let lines = try Self.lines(path)
            #expect(lines.count == 42 && Set(lines.map(\.path)).count == 42)
            #expect(lines.allSatisfy { ($0.items?.count ?? 0) == ($0.changes?["removed"] ?? 0) })
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            #expect(try Self.journals(folder).isEmpty)
        }
    }

    @Test("A service without a writable audit log does not start")
    func refuses() {
        #expect(throws: ConfigurationError.self) { try AuditLog(path: "/nowhere/at/all") }
    }

    @Test("An operation does not begin if the device or disk is full", .mounts)
    func full() async throws {
        try await Self.withLog { folder, path in
            symlink("/dev/full", path)
            let log = try AuditLog(path: path)
            await #expect(throws: StoreError.self) { _ = try await log.begin(Self.entry("/")) }
            unlink(path)
            // The next operation creates the file again.
            try await log.finish(try await log.begin(Self.entry("/")), outcome: "done", now: 0)
            #expect(try Self.lines(path).map(\.outcome) == ["done"])
        }
        try await Self.withLog { folder, path in
            let disk = try Mount.small(folder, kibibytes: 512)
            defer { disk.remove() }
            let log = try AuditLog(path: path)
            let deed = try await log.begin(Self.entry("/first"))
            // The space for its line is reserved while the rest of the disk is full.
            let rest = try #require(FileHandle(forWritingAtPath: Self.made("\(folder)/rest")))
            while (try? rest.write(contentsOf: Data(count: 4_096))) != nil {}
            await #expect(throws: StoreError.self) {
                for number in 0..<64 { _ = try await log.begin(Self.entry("/\(number)")) }
            }
            try await log.finish(deed, status: 200, outcome: "done", now: 0)
            #expect(try Self.lines(path).map(\.path) == ["/first"])
        }
    }

    @Test("Refusals on a full disk are buffered up to a bound; completed operations always remain")
    func refusalsOnFullDisk() async throws {
        try await Self.withLog { _, path in
            let log = try AuditLog(path: path)
            let deed = try await log.begin(Self.entry("/done"))
            unlink(path)
            symlink("/dev/full", path)
            for _ in 0..<20 {
                for number in 0..<1_000 { log.refuse(Self.entry("/refused/\(number)")) }
                await #expect(throws: StoreError.self) { _ = try await log.begin(Self.entry("/not-begun")) }
            }
            await #expect(throws: StoreError.self) { try await log.finish(deed, outcome: "done", now: 0) }
            unlink(path)
            await log.close()
            let lines = try Self.lines(path)
            #expect(lines.last?.path == "/done" && lines.count > 1_000 && lines.count < 15_000, "\(lines.count)")
            await log.close()
        }
    }

    private static func made(_ path: String) -> String {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return path
    }

    @Test("The next process writes one line per interrupted operation, except those of running processes")
    func interrupted() async throws {
        try await Self.withLog { folder, path in
            let first = try AuditLog(path: path)
            let done = try await first.begin(Self.entry("/done"))
            _ = try await first.begin(Self.entry("/cut-off"))
            try await first.finish(done, status: 200, outcome: "done", now: 0)
            // A concurrent process does not treat its operations as interrupted.
            #expect(try Self.journals(folder).count == 1)
            let beside = try AuditLog(path: path)
            #expect(try Self.lines(path).map(\.path) == ["/done"])
            await beside.close()
            // The state after a kill: a journal exists without a lock.
            let journal = try #require(try Self.journals(folder).first)
            let left = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(journal)"))
            try (left + Data(#"{"half":"#.utf8)).write(to: URL(fileURLWithPath: "\(folder)/audit.pending-left"))
            for _ in 0..<2 {
                let next = try AuditLog(path: path)
                await next.close()
                let lines = try Self.lines(path)
                #expect(lines.map(\.path) == ["/done", "/cut-off"])
                #expect(lines.last?.outcome == AuditLog.interrupted && lines.last?.status == nil)
            }
            #expect(try Self.journals(folder) == [journal])
            withExtendedLifetime(first) {}
        }
    }

    @Test("The journal has a fixed initial size and contains only the operations in progress")
    func journal() async throws {
        try await Self.withLog { folder, path in
            let log = try AuditLog(path: path)
            var lengths: Set<Int> = []
            func deeds() throws -> [String] {
                let journal = try #require(try Self.journals(folder).first)
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(journal)"))
                lengths.insert(bytes.count)
                return try bytes.split { $0 == 0 || $0 == 0x0A }.map { try JSONDecoder().decode(AuditEntry.self, from: $0).path }
            }
            for number in 0..<3 {
                let deed = try await log.begin(Self.entry("/\(number)" + String(repeating: "x", count: 30 * (3 - number))))
                #expect(try deeds().map { $0.prefix(2) } == ["/\(number)"])
                try await log.finish(deed, outcome: "done", now: 0)
                #expect(try deeds().isEmpty)
            }
            #expect(lengths.count == 1)
            // Operations beyond the initial size are all in the journal.
            let paths = (0..<40).map { "/long/\($0)/" + String(repeating: "y", count: 1_000) }
            for path in paths { _ = try await log.begin(Self.entry(path)) }
            #expect(try deeds() == paths)
        }
    }

    @Test("A moved log file is replaced by a new one")
    func moved() async throws {
        try await Self.withLog { folder, path in
            let log = try AuditLog(path: path)
            try await log.finish(try await log.begin(Self.entry("/1")), outcome: "done", now: 0)
            try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/audit.1")
            try await log.finish(try await log.begin(Self.entry("/2")), outcome: "done", now: 0)
            #expect(try Self.lines(path).map(\.path) == ["/2"])
        }
    }

    @Test(
        "The log contains no secret of a URL",
        arguments: [
            ("/admin/items/user/a@b:c", "/admin/items/user/a@b:c"), ("/admin/items?onError=skip", "/admin/items?onError=skip"),
            ("/admin/images?url=https://a.example/b.png", "/admin/images?url=https://a.example/b.png"),
            ("/admin/images?url=https%3A%2F%2Fa.example%2Fb.png%3Ftoken%3Ds3cret", "/admin/images?url=https://a.example/b.png?…"),
            ("/admin/images?url=https://me:s3cret@a.example/b.png", "/admin/images?url=…"),
            ("/admin/images?url=https%3A%2F%2Fme%3As3cret%40a.example", "/admin/images?url=…"),
            ("/admin/images?me:s3cret@a", "/admin/images?…"),
            ("/admin/images?x=1&%75rl=//me:s3cret@a&y=2", "/admin/images?x=1&%75rl=…&y=2"),
            ("/admin/images?url=%ff:s3cret", "/admin/images?url=…"),
        ])
    func shown(target: String, expected: String) {
        #expect(AuditEntry.shown(target) == expected)
    }
}
