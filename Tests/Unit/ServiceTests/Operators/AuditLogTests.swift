import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
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

    @Test("A long text of a line is cut")
    func cut() throws {
        var entry = Self.entry("/" + String(repeating: "ü", count: 20_000))
        entry.outcome = String(repeating: "\u{1}", count: 20_000)
        let line = try JSONDecoder().decode(AuditEntry.self, from: Data(entry.line))
        #expect(line.path.hasPrefix("/ü") && line.path.hasSuffix("…") && line.path.utf8.count < AuditEntry.textLimit + 8)
        #expect(entry.line.count < 10_000)
    }

    @Test("Concurrent operations each have two complete lines across restarts, readable only by the owner")
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
            let all = try Self.lines(path)
            let lines = all.filter { $0.outcome != "begun" }
            #expect(all.count == 82 && lines.count == 42 && Set(lines.map(\.path)).count == 42)
            #expect(Set(all.compactMap(\.id)).count == 40)
            #expect(lines.allSatisfy { ($0.items?.count ?? 0) == ($0.changes?["removed"] ?? 0) })
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["audit.log"])
        }
    }

    @Test("A service without a writable audit log does not start")
    func refuses() {
        #expect(throws: ConfigurationError.self) { try AuditLog(path: "/nowhere/at/all") }
    }

    @Test("A signal during any step of a command leaves no entry without its outcome")
    func signalled() async throws {
        try await Self.withLog { _, path in
            let log = try AuditLog(path: path)
            let tell = Mutex<@Sendable () -> Void> {}
            try await log.record(
                who: "command:x", method: "restore", path: "/backup", now: { 0 },
                begins: { begin in
                    let added = try begin()
                    let lines = try Self.lines(path)
                    tell.withLock { $0 = added }
                    #expect(lines.isEmpty)
                }
            ) { _ in
                let lines = try Self.lines(path)
                #expect(lines.map(\.outcome) == ["begun"])
                tell.withLock { $0 }()
            }
            let lines = try Self.lines(path)
            #expect(lines.map(\.outcome) == ["begun", "not done: interrupted", "done"])
            #expect(Set(lines.map(\.id)).count == 1)
        }
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
            #expect(try Self.lines(path).map(\.outcome) == ["begun", "done"])
        }
        try await Self.withLog { folder, path in
            let disk = try Mount.small(folder, kibibytes: 512)
            defer { disk.remove() }
            let log = try AuditLog(path: path)
            let deed = try await log.begin(Self.entry("/first"))
            let rest = try #require(FileHandle(forWritingAtPath: Self.made("\(folder)/rest")))
            while (try? rest.write(contentsOf: Data(count: 512))) != nil {}
            await #expect(throws: StoreError.self) {
                for number in 0..<64 { _ = try await log.begin(Self.entry("/\(number)")) }
            }
            await #expect(throws: StoreError.self) { try await log.finish(deed, status: 200, outcome: "done", now: 0) }
            // A line that the full disk has cut does not hide the next one.
            try rest.truncate(atOffset: 0)
            try await log.finish(deed, status: 200, outcome: "done", now: 0)
            let last = try #require(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").last)
            #expect(try JSONDecoder().decode(AuditEntry.self, from: Data(last.utf8)).outcome == "done")
        }
    }

    @Test("An incomplete line does not hide the next one")
    func torn() async throws {
        try await Self.withLog { _, path in
            try Data(#"{"half":"#.utf8).write(to: URL(fileURLWithPath: path))
            let log = try AuditLog(path: path)
            _ = try await log.begin(Self.entry("/next"))
            #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 2)
        }
    }

    @Test("Refused requests have at most a bounded number of lines a minute, and the next line gives the number of the others")
    func refusals() async throws {
        try await Self.withLog { _, path in
            let start = ContinuousClock.now
            let passed = Mutex(Duration.zero)
            let log = try AuditLog(path: path) { start + passed.withLock { $0 } }
            for number in 0..<20_000 { log.refuse(Self.entry("/\(number)" + String(repeating: "x", count: 8_000))) }
            await log.close()
            #expect(try Self.lines(path).count == AuditLog.refusalLimit)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count < AuditLog.refusalLimit * 1_400)
            // Actions are recorded all the same.
            _ = try await log.begin(Self.entry("/action"))
            passed.withLock { $0 = AuditLog.refusalWindow }
            for _ in 0..<2 { log.refuse(Self.entry("/later")) }
            await log.close()
            let last = try Self.lines(path).suffix(3)
            #expect(last.map(\.path) == ["/action", "/later", "/later"])
            #expect(last.map(\.outcome) == ["begun", "; 19900 refused requests before it have no entry", ""])
        }
    }

    @Test("An operator whose actions are refused waits beyond a hundred a minute on average; others do not")
    func refusedActions() async throws {
        try await Self.withLog { _, path in
            let start = ContinuousClock.now
            let passed = Mutex(Duration.zero)
            let log = try AuditLog(path: path) { start + passed.withLock { $0 } }
            var (refused, minutes) = (0, 3)
            for _ in 0..<minutes * 600 {
                // As many as a client has connections are checked at once.
                let admitted = (0..<7).count { _ in log.wait(of: "ann") == nil }
                for _ in 0..<admitted { log.countRefusal(of: "ann") }
                refused += admitted
                passed.withLock { $0 += .milliseconds(100) }
            }
            #expect((minutes * 100...(minutes + 1) * 100 + 7).contains(refused), "\(refused)")
            for _ in 0..<7 { log.countRefusal(of: "ann") }
            #expect(log.wait(of: "bob") == nil)
            let wait = try #require(log.wait(of: "ann"))
            passed.withLock { $0 += .seconds(wait) }
            #expect(wait <= 6 && log.wait(of: "ann") == nil)
        }
    }

    private static func made(_ path: String) -> String {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return path
    }

    @Test("A moved log file is replaced by a new one")
    func moved() async throws {
        try await Self.withLog { folder, path in
            let log = try AuditLog(path: path)
            try await log.finish(try await log.begin(Self.entry("/1")), outcome: "done", now: 0)
            try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/audit.1")
            try await log.finish(try await log.begin(Self.entry("/2")), outcome: "done", now: 0)
            #expect(try Self.lines(path).map(\.path) == ["/2", "/2"])
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
