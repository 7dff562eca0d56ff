import Foundation
import IntertwineItems
import IntertwineLedger
import IntertwinePostgreSQL
import IntertwineStorage
import TestSupport
import Testing

@Suite("A copy from files to PostgreSQL, and back")
struct StoreCopyTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-copy-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func files(_ name: String) throws -> FileCopyEndpoint {
        try FileCopyEndpoint(items: "\(folder)/\(name).sqlite", ledger: "\(folder)/\(name).ledger.sqlite")
    }

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
        try await store.remember([CampaignMembership(kind: "ad", id: "1", campaign: "spring")])
        let ledger = try SQLiteLedger(path: "\(folder)/\(name).ledger.sqlite")
        for number in 0..<20 {
            var event = LedgerEvent(
                at: SQLiteLedger.systemTime() - Int64(number) * 3_600_000, kind: .click, cell: "ad:1", viewer: "v\(number)\u{0}")
            event.showing = ImpressionContext(campaign: "c", feed: "main", remembered: 86_400)
            event.input = EventInput(json: #"{"a":"b"}"#, choices: [EventInput.Choice("a", "b")])
            event.deduplication = LedgerEvent.Deduplication(key: "k\(number)", window: 30 * 86_400_000)
            _ = try await ledger.commit(LedgerEntry(events: [event]))
        }
        // One that is kept apart from those.
        _ = try await ledger.commit(LedgerEntry(events: [Self.shortly("short")]))
        try await ledger.complete()
        try await store.completeFile()
    }

    @Test("A copy resumes after an interruption, preserves all rows both ways, and requires an empty destination")
    func thereAndBack() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await fill("one")
        let database = try PostgresServer.shared().makeDatabase()
        let address = try PostgresAddress(database.uri)
        let copy: () throws -> StoreCopy = { try StoreCopy(from: files("one"), to: PostgresCopyEndpoint(address)) }
        // The first batch is there, and what comes after it is refused.
        try Self.stopBehindFirstBatch(database, copy)
        #expect(try database.psql("SELECT count(*) FROM item") == "2000")
        // Nobody takes half of it for the whole.
        let unfinished = #expect(throws: StoreError.self) { try PostgresLedger(address) }
        #expect(unfinished?.description.contains("copy") == true)
        let counts = try copy().run()
        #expect(counts.first { $0.table == "campaign_creative" }?.rows == 1)
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

        let back = try StoreCopy(from: PostgresCopyEndpoint(address), to: files("two"))
        #expect(try back.run().first { $0.table == "event" }?.rows == 24)
        let store = try SQLiteStore(path: "\(folder)/two.sqlite")
        #expect(try await store.takedowns(after: nil, limit: 9).map(\.reason) == ["complaint\u{0}"])
        let two = try SQLiteLedger(path: "\(folder)/two.ledger.sqlite")
        #expect(try await two.events(after: 21, limit: 9).map(\.sequence) == [22, 23, 24])
        #expect(try await two.events(after: 0, limit: 1).first?.event.input?.json == #"{"a":"b"}"#)
        let choices = try await two.report(days: 0...1_000_000, by: .choice).rows
        #expect(choices.map(\.key.text) == ["a=b"] && choices.first?.counts[.click] == 20)
        let verdicts = try await two.commit(LedgerEntry(events: ["short", "there", "new"].map(Self.shortly))).verdicts
        #expect(verdicts == [.duplicate, .duplicate, .counted])
    }

    @Test("A resumed copy whose database was modified compares tables and copies the different ones again")
    func writtenMeanwhile() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await fill("one")
        let database = try PostgresServer.shared().makeDatabase()
        let address = try PostgresAddress(database.uri)
        try Self.stopBehindFirstBatch(database) { try StoreCopy(from: files("one"), to: PostgresCopyEndpoint(address)) }
        try await changeItems("one")
        let counts = try StoreCopy(from: files("one"), to: PostgresCopyEndpoint(address)).run()
        #expect(counts.first { $0.table == "item" }?.rows == 4_999)
        #expect(try database.psql("SELECT count(*) FROM item WHERE id = 'u1' || chr(1)") == "0")

        // The same where the files are the destination, cut short between the two.
        _ = try StoreCopy(from: PostgresCopyEndpoint(address), to: files("two")).run()
        let items = try TableFile("\(folder)/two.sqlite", .items)
        try items.write {
            try $0.write("CREATE TABLE intertwine_copy (only INTEGER PRIMARY KEY, progress TEXT NOT NULL)")
            try $0.write("INSERT INTO intertwine_copy VALUES (1, ?1)", .text(#"{"source":"\#(address.shown)","last":{}}"#))
        }
        items.close()
        let unfinished = #expect(throws: StoreError.self) { try SQLiteStore(path: "\(folder)/two.sqlite") }
        #expect(unfinished?.description.contains("a copy into it is incomplete") == true)
        let again = try StoreCopy(from: PostgresCopyEndpoint(address), to: files("two")).run()
        #expect(again.first { $0.table == "item" }?.rows == 4_999)
        _ = try SQLiteStore(path: "\(folder)/two.sqlite")
    }

    /// Removes an item that has been copied.
    private func changeItems(_ name: String) async throws {
        let store = try SQLiteStore(path: "\(folder)/\(name).sqlite")
        #expect(try await store.remove(kind: "user", id: "u1\u{1}"))
        try await store.completeFile()
    }

    /// A click with a window of the length that is kept in memory.
    private static func shortly(_ key: String) -> LedgerEvent {
        LedgerEvent(
            at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: key, deduplication: .init(key: key, window: 300_000))
    }

    private static func stopBehindFirstBatch(_ database: PostgresServer.Database, _ copy: () throws -> StoreCopy) throws {
        let begun = try copy()
        try database.psql("ALTER TABLE item ADD CONSTRAINT few CHECK (id NOT LIKE 'u2500%')")
        #expect(throws: StoreError.self) { try begun.run() }
        try database.psql("ALTER TABLE item DROP CONSTRAINT few")
    }
}
