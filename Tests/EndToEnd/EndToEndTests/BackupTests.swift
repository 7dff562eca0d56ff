import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Backup, verification and restore of a file store", .timeLimit(.untilStuck))
struct BackupTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: "\(folder)/data", withIntermediateDirectories: true)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private var data: String { "\(folder)/data" }

    private static func command(
        _ name: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (code: Int32, lines: [String]) {
        try Command.run([name, "--config", "/dev/null"] + arguments, environment: environment)
    }

    private static func backUp(_ store: String, to target: String, environment: [String: String] = [:]) throws -> (
        code: Int32, lines: [String]
    ) {
        try command("backup", ["--database", "\(store)/intertwine.sqlite", target], environment: environment)
    }

    private static func restore(
        _ backup: String, to store: String, _ flags: [String] = [], environment: [String: String] = [:]
    ) throws -> (code: Int32, lines: [String]) {
        try command("restore", [backup, "--database", "\(store)/intertwine.sqlite"] + flags, environment: environment)
    }

    private static func verify(_ path: String) throws -> (code: Int32, lines: [String]) { try Command.run(["verify", path]) }

    private func service() throws -> RunningService {
        let database = "\(data)/intertwine.sqlite"
        if access(database, F_OK) != 0 {
            _ = try RunningService.importItems(Items.users(40) + Items.advertisements(1), into: database, folder: try emptyFolder())
        }
        return try RunningService(in: data, settings: ["events.click-rate=1000000"])
    }

    private func emptyFolder() throws -> String {
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        return folder
    }

    private static func click(_ service: RunningService) throws -> String {
        let page = try JSON(try service.get("/feed").text)
        return try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
    }

    /// A store with one click, whose service has stopped.
    private func stoppedStore() throws {
        let service = try service()
        #expect(try service.get(try Self.click(service)).status == 302)
        service.stop()
    }

    @Test("A backup of a running service has each click that was acknowledged before, and its restored totals agree")
    func underLoad() async throws {
        try await offPool {
            defer { remove() }
            let service = try service()
            let click = try Self.click(service)
            let load = ClickLoad(ports: [service.port], click: click, clients: 4)
            var acknowledged: [Set<String>] = []
            for number in 0..<3 {
                while load.count < 40 * (number + 1) { usleep(5_000) }
                acknowledged.append(load.done)
                let result = try Self.backUp(data, to: "\(folder)/backup\(number)")
                #expect(result.code == 0 && result.lines.last?.contains("signing key") == true, "\(result.lines)")
            }
            load.stop()
            for (number, viewers) in acknowledged.enumerated() {
                let (backup, target) = ("\(folder)/backup\(number)", "\(folder)/restored\(number)")
                #expect(try Self.verify(backup).code == 0)
                let result = try Self.restore(backup, to: target)
                #expect(result.code == 0, "\(result.lines)")
                let restored = try RunningService(in: target)
                let events = try restored.events()
                #expect(viewers.isSubset(of: Set(events.compactMap { $0["viewer"]?.text })), "backup \(number)")
                let report = try Command.run([
                    "report", "--config", "/dev/null", "--database", restored.database, "--format", "json", "--by", "day",
                ])
                #expect(try JSON(report.lines.joined()).list.first?["clicks"]?.number == events.count, "\(report.lines)")
                // The key is the same, so the link stays valid.
                #expect(try restored.get(click, fields: ["User-Agent: tests", "X-Viewer-ID: later"]).status == 302)
            }
        }
    }

    @Test("A restored store of a killed service starts, and its backup needs no file of the write-ahead log")
    func killed() async throws {
        try await offPool {
            defer { remove() }
            let service = try service()
            #expect(try service.get(try Self.click(service)).status == 302)
            service.process.signal(SIGKILL)
            _ = service.process.wait()
            #expect(try Self.backUp(data, to: "\(folder)/backup").code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/backup").sorted()
            #expect(names == ["intertwine.ledger.sqlite", "intertwine.sqlite", "signing.key"])
            for name in names {
                let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/backup/\(name)")[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(name)")
            }
            #expect(try Self.verify("\(folder)/backup").code == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/backup").sorted() == names)
            #expect(try Self.restore("\(folder)/backup", to: data, ["--overwrite"]).code == 0)
            #expect(try RunningService(in: data).events().count == 1)
        }
    }

    @Test("A full disk ends a backup or restore with one line, and changes nothing", .mounts)
    func fullDisk() async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            #expect(try Self.backUp(data, to: "\(folder)/backup").code == 0)
            let disk = "\(folder)/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            let mount = try Mount.small(disk, kibibytes: 256)
            defer { mount.remove() }
            let backup = try Self.backUp(data, to: "\(disk)/backup")
            #expect(backup.code == 1 && backup.lines.last?.hasSuffix("the disk is full") == true, "\(backup.lines)")
            let restore = try Self.restore("\(folder)/backup", to: disk)
            #expect(restore.code == 1 && restore.lines.last?.contains("Error: \(disk)") == true, "\(restore.lines)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk).allSatisfy { $0 == "audit.log" })
        }
    }

    @Test("A pipe in the place of a file is refused, and not waited for")
    func pipe() async throws {
        try await offPool {
            defer { remove() }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["items.sqlite", "intertwine.sqlite"] {
                #expect(mkfifo("\(folder)/\(name)", 0o600) == 0)
                let result = try Self.verify("\(folder)/\(name)")
                #expect(result.code == 1 && result.lines.last?.contains("is not a regular file") == true, "\(result.lines)")
            }
        }
    }

    @Test("A changed file of a backup is found, and is not restored")
    func corrupt() async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            let backup = "\(folder)/backup"
            #expect(try Self.backUp(data, to: backup).code == 0)
            for name in ["intertwine.sqlite", "intertwine.ledger.sqlite", "signing.key"] {
                let path = "\(backup)/\(name)"
                let whole = try Data(contentsOf: URL(fileURLWithPath: path))
                // The header, and a page with rows or entries of an index.
                let ranges = name == "signing.key" ? [0..<8, 32..<40] : [0..<64, try #require(try DatabasePages(path).pages().last).range]
                for range in ranges {
                    var bytes = whole
                    for place in range { bytes[place] = bytes[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0") }
                    try bytes.write(to: URL(fileURLWithPath: path))
                    let result = try Self.verify(backup)
                    #expect(result.code == 1 && result.lines.contains { $0.hasPrefix(path) }, "\(name) \(range): \(result.lines)")
                }
                let result = try Self.restore(backup, to: "\(folder)/new")
                #expect(result.code == 1 && result.lines.contains("\(backup): nothing was restored"), "\(result.lines)")
                #expect(access("\(folder)/new", F_OK) != 0)
                try FileManager.default.removeItem(atPath: path)
                #expect(try Self.verify(backup).code == 1)
                try whole.write(to: URL(fileURLWithPath: path))
            }
            #expect(try Self.verify(backup).code == 0)
        }
    }

    @Test("A folder without items, or with empty ones, is no backup, and replaces nothing")
    func incomplete() async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            let files = FileManager.default
            #expect(try Self.backUp(data, to: "\(folder)/full").code == 0)
            let before = try Data(contentsOf: URL(fileURLWithPath: "\(data)/intertwine.sqlite"))
            let changes: [(name: String, change: (String) throws -> Void)] = [
                (
                    "keyOnly",
                    { copy in
                        for file in try files.contentsOfDirectory(atPath: copy) where file != "signing.key" {
                            try files.removeItem(atPath: "\(copy)/\(file)")
                        }
                    }
                ),
                (
                    "empty",
                    { copy in
                        for file in try files.contentsOfDirectory(atPath: copy) { try files.removeItem(atPath: "\(copy)/\(file)") }
                        try Data().write(to: URL(fileURLWithPath: "\(copy)/intertwine.sqlite"))
                    }
                ),
            ]
            for (name, change) in changes {
                let copy = "\(folder)/\(name)"
                try files.copyItem(atPath: "\(folder)/full", toPath: copy)
                try change(copy)
                #expect(try Self.verify(copy).code == 1, "\(name)")
                #expect(try Self.restore(copy, to: data, ["--overwrite"]).code == 1, "\(name)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: "\(data)/intertwine.sqlite")) == before, "\(name)")
            }
            // A folder of the user is not an incomplete copy.
            try files.createDirectory(atPath: "\(folder)/mine.partial", withIntermediateDirectories: false)
            try "x".write(toFile: "\(folder)/mine.partial/x", atomically: true, encoding: .utf8)
            #expect(try Self.backUp(data, to: "\(folder)/mine").code != 0)
            #expect(files.fileExists(atPath: "\(folder)/mine.partial/x"))
        }
    }

    @Test("An interrupted backup or restore ends by the signal, and its message is true", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            let (files, target) = (FileManager.default, "\(folder)/target")
            #expect(try Self.backUp(data, to: "\(folder)/full").code == 0)
            for delay: UInt32 in TestSize.full([0, 1, 2, 4, 8, 12, 16, 24, 32, 48], small: [0, 4, 16]) {
                for isRestore in [false, true] {
                    try? files.removeItem(atPath: target)
                    let arguments =
                        isRestore
                        ? ["restore", "\(folder)/full", "--database", "\(target)/intertwine.sqlite"]
                        : ["backup", "--database", "\(data)/intertwine.sqlite", target]
                    let process = try SpawnedProcess(
                        [BuiltProduct.path("intertwine"), arguments[0], "--config", "/dev/null"] + arguments.dropFirst())
                    // The first line is that of a file. The delays spread the signals over the command.
                    _ = try process.nextLine()
                    usleep(delay * 1000)
                    process.signal(signal)
                    while try process.nextLine() != nil {}
                    let code = process.wait()
                    let isComplete = files.fileExists(atPath: "\(target)/intertwine.sqlite")
                    #expect(code == 0 || code == -signal, "\(process.lines)")
                    #expect(code != 0 || isComplete, "\(process.lines)")
                    let isDenied = process.lines.contains { $0.hasPrefix("interrupted; no") }
                    #expect(!isDenied || code == -signal && !isComplete, "\(process.lines)")
                    // A signal during the replacement does not end the command.
                    let audit = (try? String(contentsOfFile: "\(target)/audit.log", encoding: .utf8)) ?? ""
                    let outcome = isDenied ? "not done: interrupted" : #""outcome":"done""#
                    #expect(audit.isEmpty || audit.contains(outcome), "\(audit)")
                    guard isDenied else { continue }
                    #expect(!files.fileExists(atPath: "\(target).partial"))
                    let left = (try? files.contentsOfDirectory(atPath: target)) ?? []
                    #expect(!left.contains { $0.hasSuffix(".restoring") }, "\(left)")
                }
            }
        }
    }

    @Test("The verification of a stopped store finds files that do not belong together, newer schemas, and corrupt indexes")
    func findings() async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            let items = "\(data)/intertwine.sqlite"
            #expect(try Self.verify(items).code == 0)
            #expect(try Self.verify(data).code == 0)
            func expect(_ words: String, after change: () throws -> Void) throws {
                let aside = "\(folder)/aside"
                try FileManager.default.copyItem(atPath: data, toPath: aside)
                try change()
                let result = try Self.verify(items)
                #expect(result.code == 1 && result.lines.contains { $0.contains(words) }, "\(words): \(result.lines)")
                try FileManager.default.removeItem(atPath: data)
                try FileManager.default.moveItem(atPath: aside, toPath: data)
            }
            func sql(_ file: String, _ text: String) throws {
                let process = try SpawnedProcess(["/usr/bin/sqlite3", "-bail", "\(data)/\(file)", text])
                while try process.nextLine() != nil {}
                #expect(process.wait() == 0)
            }
            try expect("belongs to another store") { try sql("intertwine.ledger.sqlite", "UPDATE store_identity SET store = 'other'") }
            try expect("newer version of this program") { try sql("intertwine.sqlite", "PRAGMA user_version = 4711") }
            try expect("is missing") { try FileManager.default.removeItem(atPath: "\(data)/intertwine.ledger.sqlite") }
            try expect("the signing key of") { try FileManager.default.removeItem(atPath: "\(data)/signing.key") }
            try expect("wrong # of entries in index") {
                try sql(
                    "intertwine.ledger.sqlite",
                    "PRAGMA writable_schema = ON; CREATE TABLE t (a); CREATE INDEX t_a ON t (a); INSERT INTO t VALUES (1);"
                        + "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t (a) WHERE a > 1' WHERE name = 't_a'")
            }
        }
    }

    @Test("A backup that is killed at any step leaves no backup, a complete one, or a part that the next one names")
    func killedBackup() async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            let kill = try KillStep()
            let target = "\(folder)/backups"
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            var (step, isKilled, kills) = (1, true, 0)
            while isKilled {
                let result = try Self.backUp(data, to: "\(target)/b", environment: kill.environment(step: step, in: target))
                isKilled = result.code == -SIGKILL
                if isKilled { kills += 1 } else { #expect(result.code == 0, "\(result.lines)") }
                if access("\(target)/b.partial", F_OK) == 0 {
                    let next = try Self.backUp(data, to: "\(target)/b")
                    #expect(next.code == 1 && next.lines.last?.contains("b.partial: exists") == true, "\(next.lines)")
                    try FileManager.default.removeItem(atPath: "\(target)/b.partial")
                }
                if access("\(target)/b", F_OK) == 0 { #expect(try Self.verify("\(target)/b").code == 0, "step \(step)") }
                try? FileManager.default.removeItem(atPath: "\(target)/b")
                step += step < 8 ? TestSize.full(1, small: 2) : 7
            }
            #expect(kills > 5)
            #expect(try Self.backUp(data, to: "\(target)/b").code == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["b"])
        }
    }

    @Test("A restore that is killed at any step leaves the old store, the new one, or one that a start refuses")
    func killedRestore() async throws {
        try await offPool {
            defer { remove() }
            try stoppedStore()
            let (backup, old) = ("\(folder)/backup", "\(folder)/old")
            #expect(try Self.backUp(data, to: backup).code == 0)
            try FileManager.default.moveItem(atPath: data, toPath: "\(folder)/first")
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: false)
            try stoppedStore()
            try FileManager.default.moveItem(atPath: data, toPath: old)
            let oldKey = try String(contentsOfFile: "\(old)/signing.key", encoding: .utf8)
            let newKey = try String(contentsOfFile: "\(backup)/signing.key", encoding: .utf8)
            let kill = try KillStep()
            var outcomes: Set<String> = []
            var (step, isKilled) = (1, true)
            while isKilled {
                try? FileManager.default.removeItem(atPath: data)
                try FileManager.default.copyItem(atPath: old, toPath: data)
                let result = try Self.restore(backup, to: data, ["--overwrite"], environment: kill.environment(step: step, in: data))
                isKilled = result.code == -SIGKILL
                if !isKilled { #expect(result.code == 0, "\(result.lines)") }
                let verified = try Self.verify("\(data)/intertwine.sqlite")
                if verified.code == 0 {
                    let key = try String(contentsOfFile: "\(data)/signing.key", encoding: .utf8)
                    outcomes.insert(key == oldKey ? "old" : key == newKey ? "new" : "wrong")
                } else {
                    outcomes.insert("refused")
                    #expect(try Self.restore(backup, to: data, ["--overwrite"]).code == 0, "step \(step)")
                    #expect(try Self.verify("\(data)/intertwine.sqlite").code == 0, "step \(step)")
                }
                step += TestSize.stepsBetweenKills
            }
            #expect(outcomes == ["old", "new", "refused"])
        }
    }

    @Test("A restore into a read-only folder names the reason, not another process", .mounts)
    func readOnlyFolder() async throws {
        try await offPool {
            defer { remove() }
            try service().stop()
            #expect(try Self.backUp(data, to: "\(folder)/backup").code == 0)
            let mount = try Mount.readOnly(data)
            defer { mount.remove() }
            let result = try Self.restore("\(folder)/backup", to: data, ["--overwrite"])
            #expect(result.code == 1 && result.lines.last?.contains("Read-only file system") == true, "\(result)")
        }
    }

    @Test("A wrong argument, an existing target, a store in use and a PostgreSQL database are refused")
    func refusals() async throws {
        try await offPool {
            defer { remove() }
            func expect(_ code: Int32, _ words: String, _ result: (code: Int32, lines: [String])) {
                #expect(result.code == code && result.lines.contains { $0.contains(words) }, "\(words): \(result)")
            }
            try expect(64, "Missing expected argument", Self.command("backup", []))
            try expect(64, "Missing expected argument", Command.run(["verify"]))
            try expect(64, "Missing expected argument", Self.command("restore", []))
            try expect(1, "no store exists", Self.backUp(data, to: "\(folder)/backup"))
            try expect(1, "no backup or store exists", Self.verify("\(folder)/nothing"))
            try expect(1, "no backup or store exists", Self.restore("\(folder)/nothing", to: data))
            try expect(1, "pg_basebackup", Self.command("backup", ["--database", "postgresql://h/d", "\(folder)/backup"]))
            let service = try service()
            #expect(try Self.backUp(data, to: "\(folder)/backup").code == 0)
            try expect(1, "exists; a backup does not overwrite it", Self.backUp(data, to: "\(folder)/backup"))
            try expect(1, "cannot be written", Self.backUp(data, to: "\(folder)/nothing/backup"))
            try expect(1, "is in use by another process", Self.restore("\(folder)/backup", to: data, ["--overwrite"]))
            #expect(try service.get("/readyz").status == 200)
            service.stop()
            try expect(1, "--overwrite replaces the store", Self.restore("\(folder)/backup", to: data))
            try expect(1, "is the store itself", Self.restore(data, to: data, ["--overwrite"]))
            #expect(try Self.restore("\(folder)/backup", to: data, ["--overwrite"]).code == 0)
            #expect(try RunningService(in: data).get("/readyz").status == 200)
        }
    }
}
