import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("A copy from files to PostgreSQL, and back")
struct StoreCopyTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-copy-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { "\(folder)/\(name).sqlite" }
    private func ledgerPath(_ name: String) -> String { "\(folder)/\(name).ledger.sqlite" }
    private func source(_ name: String) throws -> CopiedFiles { try CopiedFiles(items: path(name), ledger: ledgerPath(name)) }
    private func destination(_ name: String) -> NewFiles { NewFiles(items: path(name), ledger: ledgerPath(name)) }

    /// Some of everything: 5,000 items, which are more than one batch, and what people did.
    private func fill(_ name: String) async throws {
        let store = try SQLiteStore(path: "\(folder)/\(name).sqlite")
        for start in stride(from: 0, to: 5_000, by: 500) {
            _ = try await store.apply(
                (start..<start + 500).map { number in
                    .append(
                        ValidatedItem(kind: "user", stream: .content, id: "u\(number)\u{1}", variant: "regular", body: Array("{}".utf8)))
                })
        }
        _ = try await store.takeDown(ItemKey(kind: "user", id: "gone"), reason: "complaint\u{0}")
        let ledger = try SQLiteLedger(path: "\(folder)/\(name).ledger.sqlite")
        for number in 0..<20 {
            var event = LedgerEvent(
                at: SQLiteLedger.systemTime() - Int64(number) * 3_600_000, kind: .click, cell: "ad:1", viewer: "v\(number)\u{0}")
            event.impressionContext = ImpressionContext(campaign: "c", feed: "main", frequencyCapTTL: 86_400)
            event.input = EventInput(json: #"{"a":"b"}"#, choices: [EventInput.Choice("a", "b")])
            event.deduplication = LedgerEvent.Deduplication(key: "k\(number)", window: 30 * 86_400_000)
            _ = try await ledger.commit(LedgerEntry(events: [event]))
        }
        // One that is kept apart from those.
        _ = try await ledger.commit(LedgerEntry(events: [Self.shortly("short")]))
        try await ledger.complete()
        try await store.completeFile()
    }

    @Test("A copy preserves all rows both ways, leaves nothing if it fails, and requires an empty destination")
    func thereAndBack() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await fill("one")
        let database = try PostgresServer.shared().makeDatabase()
        let address = try PostgresAddress(database.uri)
        let copy: () throws -> StoreCopy = { try StoreCopy(from: source("one"), to: PostgresCopyEndpoint(address)) }
        // The second batch is refused.
        do {
            let begun = try copy()
            try database.psql("ALTER TABLE item ADD CONSTRAINT few CHECK (id NOT LIKE 'u2500%')")
            #expect(throws: StoreError.self) { try begun.run() }
            try database.psql("ALTER TABLE item DROP CONSTRAINT few")
        }
        #expect(try database.psql("SELECT (SELECT count(*) FROM item) + (SELECT count(*) FROM section)") == "0")
        let counts = try copy().run()
        #expect(counts.first { $0.table == "item" }?.rows == 5_000 && counts.first { $0.table == "event" }?.rows == 21)
        #expect(counts.first { $0.table == "allowance" }?.rows == 21)
        #expect(throws: StoreError.self) { try copy().run() }

        // Who goes on there is numbered behind, and finds duplicates again.
        let ledger = try PostgresLedger(address)
        #expect(try await ledger.events(after: 0, limit: 99).count == 21)
        var event = LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: "new")
        event.deduplication = LedgerEvent.Deduplication(key: "k0", window: 30 * 86_400_000)
        let again = [event, Self.shortly("short"), Self.shortly("there")]
        #expect(try await ledger.commit(LedgerEntry(events: again)).verdicts == [.duplicate, .duplicate, .counted])
        try await ledger.complete()
        let last = try await ledger.events(after: 21, limit: 10)
        #expect(last.map(\.sequence) == [22, 23, 24] && last.first?.event.verdict == .duplicate)

        let back = try StoreCopy(from: PostgresCopyEndpoint(address), to: destination("two"))
        #expect(try back.run().first { $0.table == "event" }?.rows == 24)
        let store = try SQLiteStore(path: "\(folder)/two.sqlite")
        #expect(try await store.takedowns(after: nil, limit: 9).map(\.reason) == ["complaint\u{FFFD}"])
        let two = try SQLiteLedger(path: "\(folder)/two.ledger.sqlite")
        #expect(try await two.events(after: 21, limit: 9).map(\.sequence) == [22, 23, 24])
        #expect(try await two.events(after: 0, limit: 1).first?.event.input?.json == #"{"a":"b"}"#)
        let choices = try await two.report(days: 0...1_000_000, by: .choice).rows
        #expect(choices.map(\.key.text) == ["a=b"] && choices.first?.counts[.click] == 20)
        let verdicts = try await two.commit(LedgerEntry(events: ["short", "there", "new"].map(Self.shortly))).verdicts
        #expect(verdicts == [.duplicate, .duplicate, .counted])
    }

    @Test("A copy into files that fails leaves no file, and existing files are refused")
    func intoFiles() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await fill("one")
        let database = try PostgresServer.shared().makeDatabase()
        let address = try PostgresAddress(database.uri)
        _ = try StoreCopy(from: source("one"), to: PostgresCopyEndpoint(address)).run()
        struct Interrupted: Error {}
        final class Failing: CopySource {
            let inner: PostgresCopyEndpoint
            init(_ inner: PostgresCopyEndpoint) { self.inner = inner }
            func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]] {
                guard table.name != "event" else { throw Interrupted() }
                return try inner.rows(of: table, after: key, limit: limit)
            }
            func lastMarker() throws -> Int64 { try inner.lastMarker() }
            func close() { inner.close() }
        }
        #expect(throws: Interrupted.self) {
            try StoreCopy(from: Failing(PostgresCopyEndpoint(address)), to: destination("two")).run()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { $0.hasPrefix("one.") })
        _ = try StoreCopy(from: PostgresCopyEndpoint(address), to: destination("two")).run()
        let again = #expect(throws: StoreError.self) {
            try StoreCopy(from: PostgresCopyEndpoint(address), to: destination("two")).run()
        }
        #expect(again?.description.contains("two.sqlite: exists") == true)
    }

    /// A click with a window of the length that is kept in memory.
    private static func shortly(_ key: String) -> LedgerEvent {
        LedgerEvent(
            at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: key, deduplication: .init(key: key, window: 300_000))
    }
}
