import Foundation
import GRDB
import Synchronization
import Testing

@testable import IntertwineStorage

/// Looks at the plan of every statement where it is first prepared, in whichever test that is: one that reads a growing table from end to end
/// fails the run. ``Scratch`` sees to it that it looks.
enum StatementPlans {
    /// Whose rows come with use. The others hold a row for each section, kind or source.
    private static let growing: Set<String> = [
        "event", "rollup_cell", "rollup_day", "allowance", "recent_allowance", "idempotency", "selection", "selection_step", "listing",
        "item", "source_item", "item_entry", "item_revision",
        "takedown", "gone", "delivery", "exposure", "ad_listing",
        "report_total", "report_ad", "report_place", "tracker_call",
    ]

    /// Statements that may, and why.
    private static let excused: [(beginning: String, reason: String)] = [
        ("SELECT kind, variant, count(*) FROM item GROUP BY", "counts for operators"),
        ("SELECT ifnull(", "the values of a filter, once for each version of the store, and for a twentieth of the time"),
        ("SELECT value, count(*) FROM", "the same"),
        ("SELECT count(*) FROM item INDEXED BY item_identity", "once for each version of the store, for ads at the middle of all"),
        ("DELETE FROM source_item WHERE source", "what is gone from a source is removed item by item"),
        ("UPDATE source_item SET adopted", "the same"),
        ("DELETE FROM item WHERE (kind, id) IN (SELECT kind, id FROM gone", "the same"),
        ("DELETE FROM recent_allowance WHERE id IN (", "the first rows alone"),
        ("SELECT lane, kind, id, variant, body FROM item ORDER BY", "a draft is copied into the store that came before it"),
    ]

    private static let seen = Mutex<Set<String>>([])

    static var count: Int { seen.withLock { $0.count } }

    static func observe() {
        SQLStatement.observer.withLock { $0 = SQLStatement.Observer { look($0, $1) } }
    }

    private static func look(_ database: any SQLConnection, _ sql: String) {
        guard !sql.hasPrefix("EXPLAIN"), seen.withLock({ $0.insert(sql).inserted }) else { return }
        let scans = scans(database, sql)
        guard !scans.isEmpty, !excused.contains(where: { sql.hasPrefix($0.beginning) }) else { return }
        Issue.record("reads a growing table from end to end: \(sql)\n\(scans.joined(separator: "\n"))")
    }

    /// Of each step of the plan what it says, where that is such a scan. Parameters have no values, which are nothing to a plan.
    static func scans(_ database: any SQLConnection, _ sql: String) -> [String] {
        guard let plan = try? SQLStatement(database, "EXPLAIN QUERY PLAN \(sql)") else { return [] }
        defer { plan.reset() }
        var details: [String] = []
        do { while try plan.step() { details.append(plan.text(3)) } } catch { return ["cannot be explained"] }
        return found(details)
    }

    private static func found(_ details: [String]) -> [String] {
        details.filter { detail in
            let words = detail.split(separator: " ").map(String.init)
            guard words.first == "SCAN", words.count > 1 else { return false }
            // An index of one section in one order, walked from its end: the statement's LIMIT ends it.
            if detail.contains("INDEX section_order_") { return false }
            // An alias hides the name of its table: what is not known to be small counts as growing.
            return growing.contains(words[1]) || words[1].count < 3 && words[1].allSatisfy(\.isLetter)
                || ["twin", "first", "old", "last"].contains(words[1])
        }
    }
}

@Suite("Plans of statements")
struct StatementPlanTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test("A statement that scans the ledger is detected")
    func isFound() async throws {
        let ledger = try scratch.ledger()
        try await ledger.pool.read { database in
            #expect(StatementPlans.scans(database, "SELECT count(*) FROM event WHERE at > 1").count == 1)
            #expect(StatementPlans.scans(database, "DELETE FROM allowance WHERE until < ?").count == 1)
            #expect(StatementPlans.scans(database, "SELECT max(id) FROM event").isEmpty)
        }
        #expect(StatementPlans.count > 10)
    }

    @Test("No other code prepares statements on tables")
    func isTheOnlyWay() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Sources/IntertwineStorage")
        let ways = ["execute(", "fetchOne(", "fetchAll(", "fetchCursor(", "cachedStatement(", "makeStatement(", "sqlite3_prepare"]
        // Schemas, and the draft of an import, which nobody else uses.
        let excused = [
            "LedgerSchema.swift", "ItemSchema.swift", "StoreIdentity.swift",
        ]
        let harmless = [
            "PRAGMA", "pragmas)", "\"COMMIT", "\"ROLLBACK", "\"BEGIN", "ATTACH DATABASE", "sqlite_schema", "CREATE INDEX", "DROP INDEX",
            "VACUUM", "ItemSchema.identityIndex)", "ItemIndex<SQLiteSnapshot>.creation)", "ItemIndex<SQLiteSnapshot>.terms)",
            "ItemIndex<SQLiteSnapshot>.renewal)",
        ]
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)).compactMap { $0 as? URL }
        #expect(files.count > 20)
        for file in files where file.pathExtension == "swift" && !excused.contains(file.lastPathComponent) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for way in ways {
                for rest in text.components(separatedBy: way).dropFirst() where file.lastPathComponent != "SQLConnection.swift" {
                    let statement = rest.prefix(200)
                    #expect(harmless.contains { statement.contains($0) }, "\(file.lastPathComponent): \(way)\(statement)")
                }
            }
        }
    }
}
