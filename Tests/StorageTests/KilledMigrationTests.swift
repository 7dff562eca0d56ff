import Foundation
import GRDB
import TestSupport
import Testing

@testable import IntertwineStorage

@Suite("Killed migrations", .timeLimit(.untilStuck))
struct KilledMigrationTests {
    /// What is migrated, from its first version on.
    enum Subject: String, CaseIterable, Sendable {
        case items, ledger

        func file(_ path: String) -> DatabaseFile { self == .items ? ItemSchema.file(path) : LedgerSchema.file(path) }

        fileprivate var first: String { self == .items ? "1: items" : "1: ledger" }

        /// In the tables of the first version.
        fileprivate var rows: String {
            switch self {
            case .items:
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                INSERT INTO item SELECT i % 2, i << 20, 'user', 'u' || i, 'regular', '{"username":"' || i || '"}' FROM n;
                """
            case .ledger:
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                INSERT INTO event SELECT i, 1000 * i, 'click', 'ad:' || i % 3, 'v' || i % 7, NULL, 'tests', 'counted' FROM n;
                INSERT INTO rollup_day SELECT 0, kind, verdict, count(*) FROM event GROUP BY kind, verdict;
                INSERT INTO rollup_cell SELECT 0, verdict, cell, kind, count(*) FROM event GROUP BY verdict, cell, kind;
                INSERT INTO selection SELECT 's' || id, cell, viewer, 9000000000000, NULL FROM event;
                INSERT INTO listing SELECT id, viewer, 'dismissed', cell, 's' || id || '.0', at FROM event;
                INSERT INTO allowance SELECT 'd:' || id, 9000000000000, 1 FROM event;
                """
            }
        }

        /// Makes a database as the first version left it.
        fileprivate func make(_ path: String) throws {
            let file = file(path)
            let pool = try DatabasePool(path: path)
            try file.migrator.migrate(pool, upTo: first)
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "\(rows); PRAGMA application_id = \(file.applicationID); PRAGMA user_version = 1")
                _ = try database.checkpoint(.truncate)
            }
            try pool.close()
        }
    }

    let scratch: Scratch
    let kill: KillStep

    init() throws {
        scratch = try Scratch()
        kill = try KillStep()
    }

    /// Opens a database in a process of its own; whether that was killed at the step.
    private func open(_ subject: Subject, _ path: String, killedAt step: Int) throws -> Bool {
        let victim = try SpawnedProcess(
            [BuiltProduct.path("StorageVictim"), "open", subject.rawValue, path],
            environment: kill.environment(step: step, in: scratch.path("step")))
        while try victim.nextLine(timeout: 60_000) != nil {}
        let code = victim.wait()
        if code != -SIGKILL { #expect(code == 0 && victim.lines == ["open"], "step \(step): \(victim.lines)") }
        return code == -SIGKILL
    }

    private func content(_ path: String) throws -> String {
        let words = [path, "PRAGMA integrity_check", "PRAGMA user_version", ".dump"]
        let lines = try Program(path: "/usr/bin/sqlite3", arguments: words).output().split(
            separator: "\n", omittingEmptySubsequences: false)
        // A ledger that is opened notes the moment.
        return lines.filter { !$0.hasPrefix("INSERT INTO recent_allowance ") }.joined(separator: "\n")
    }

    @Test(
        "After kill -9 before any write, sync or removal, the next start has all rows and the current tables",
        arguments: Subject.allCases)
    func everyStep(subject: Subject) throws {
        let files = FileManager.default
        try subject.make(scratch.path("old.sqlite"))
        let path = scratch.path("step/database.sqlite")
        var (expected, step, isKilled) = ("", 0, true)
        repeat {
            try? files.removeItem(atPath: scratch.path("step"))
            try files.createDirectory(atPath: scratch.path("step"), withIntermediateDirectories: false)
            try files.copyItem(atPath: scratch.path("old.sqlite"), toPath: path)
            // The first time nothing is killed.
            isKilled = try open(subject, path, killedAt: step)
            if step > 0, isKilled { #expect(try !open(subject, path, killedAt: 0)) }
            let found = try content(path)
            if step == 0 { expected = found }
            try #require(found == expected, "killed at step \(step)")
            step += 1
        } while isKilled || step == 1
        #expect(expected.hasPrefix("ok\n\(subject.file(path).version)\n"))
        // Each migration is at least a write and its sync.
        #expect(step > 2 * Int(subject.file(path).version))
    }
}
