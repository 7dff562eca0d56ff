import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
// For `SQLiteLedger.pool`.
@testable import IntertwineStorage

@Suite("Erasure of viewers and the bytes of the ledger's files")
struct ErasureTests {
    let scratch: Scratch
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger()
    }

    /// How often a text stands in the files of the ledger. Another process reads them: a descriptor that this one closes drops SQLite's locks.
    private func occurrences(of text: String) throws -> Int {
        let files = "\(scratch.path("ledger.sqlite")) \(scratch.path("ledger.sqlite-wal"))"
        let words = "cat \(files) | grep --text --only-matching '\(text)' | wc -l"
        return try #require(Int(try Program(path: "/bin/sh", arguments: ["-c", words]).output()))
    }

    private static let events = TestSize.full(6_000, small: 1_200)

    /// Lists, exposures, selections and events of many viewers, in an order that splits and merges pages.
    private func act(_ viewers: [String], seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let now = SQLiteLedger.systemTime()
        let entries = (0..<Self.events).map { number in
            let viewer = viewers[Int(random.next() % UInt64(viewers.count))]
            let event = LedgerEvent(
                at: now, kind: .impression, cell: "ad:\(number % 9)", viewer: viewer, address: "192.0.2.0", userAgent: "agent of \(viewer)",
                impressionContext: ImpressionContext(campaign: "c\(number % 7)", feed: "main", frequencyCapTTL: 3_600))
            let change = ListMutation.add(list: .saved, viewer: viewer, cell: "user:\(number)", performance: "\(random.next())", at: now)
            return LedgerEntry(events: [event], changes: number % 2 == 0 ? [change] : [])
        }
        let ledger = ledger
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in 0..<32 {
                group.addTask {
                    for number in stride(from: start, to: entries.count, by: 32) { _ = try await ledger.commit(entries[number]) }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("After an erasure no row and no write-ahead log has the viewer's name or user agent, and deleted rows are zeros")
    func bytes() async throws {
        let viewers = (0..<Self.events / 30).map { "viewer-\(UInt64($0) &* 0x9E37_79B9_7F4A_7C15)." }
        // A page of each table: rows that move to another page leave copies, which SQLite overwrites later.
        _ = try await ledger.commit(
            LedgerEntry(
                events: [LedgerEvent(at: 1, kind: .click, cell: "ad:1", viewer: "alone", userAgent: "agent of alone")],
                changes: [.add(list: .saved, viewer: "alone", cell: "user:1", performance: "1", at: 1)]))
        #expect(try occurrences(of: "alone") > 0)
        #expect(try await ledger.erase(viewer: "alone", owners: []).events == 1)
        #expect(try occurrences(of: "alone") == 0)
        try await act(viewers, seed: 20)
        for viewer in viewers.prefix(TestSize.full(80, small: 10)) {
            let erased = try await ledger.erase(viewer: viewer, owners: [])
            #expect(erased.events > 0 && erased.listed > 0 && erased.exposures > 0)
            #expect(try scratch.size("ledger.sqlite-wal") == 0)
            #expect(try scratch.sqlite("ledger.sqlite", ".dump").contains(viewer) == false)
        }
        // The others are as they were.
        let last = try #require(viewers.last)
        #expect(try await ledger.erase(viewer: last, owners: []).events > 0)
        #expect(try scratch.sqlite("ledger.sqlite", "PRAGMA integrity_check") == "ok")
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM event WHERE viewer IS NULL AND user_agent IS NOT NULL") == "0")
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM event") == "\(Self.events + 1)")
    }

    @Test("While a reader holds the log, an erasure delays no click, and events of others are not written")
    func beside() async throws {
        try await act(["ann-of-the-log", "bob"], seed: 4)
        let reader = try Program(
            path: "/usr/bin/sqlite3",
            arguments: [
                scratch.path("ledger.sqlite"), "BEGIN", "SELECT count(*) > 0 FROM event", ".system echo reading; read line", "ROLLBACK",
            ])
        #expect(reader.line() == "reading")
        let ledger = ledger
        async let erasure = ledger.erase(viewer: "bob", owners: [])
        var longest = Duration.zero
        for number in 0..<40 {
            let time = try await ContinuousClock().measure {
                _ = try await ledger.commit(
                    LedgerEntry(events: [LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: "\(number)")]))
            }
            longest = max(longest, time)
            try await Task.sleep(for: .milliseconds(30))
        }
        // It waited for a second, ten times.
        #expect(longest < .milliseconds(500), "\(longest)")
        try reader.release()
        #expect(try await erasure.events > 0)
        let updates = Updates()
        updates.count(in: ledger)
        #expect(try await ledger.erase(viewer: "nobody", owners: []).events == 0)
        #expect(updates.found == 0)
        #expect(try await ledger.erase(viewer: "ann-of-the-log", owners: []).events > 0)
        #expect(updates.found > 0)
    }

    /// The statements of the writing connection that change events.
    private final class Updates: Sendable {
        private let count = Mutex(0)

        var found: Int { count.withLock { $0 } }

        func count(in ledger: SQLiteLedger) {
            ledger.pool.writeWithoutTransaction { database in
                database.trace { [self] step in
                    if "\(step)".contains("UPDATE event") { count.withLock { $0 += 1 } }
                }
            }
        }
    }

    @Test("An erasure fails while another process blocks the checkpoint, and completes when it is repeated")
    func blocked() async throws {
        try await act(["ann-of-the-log", "bob"], seed: 3)
        let reader = try Program(
            path: "/usr/bin/sqlite3",
            arguments: [
                scratch.path("ledger.sqlite"), "BEGIN", "SELECT count(*) > 0 FROM event", ".system echo reading; read line", "ROLLBACK",
            ])
        #expect(reader.line() == "reading")
        await #expect(throws: StoreError.self) { try await ledger.erase(viewer: "ann-of-the-log", owners: []) }
        try reader.release()
        #expect(try await ledger.erase(viewer: "ann-of-the-log", owners: []).events == 0)
        #expect(try scratch.size("ledger.sqlite-wal") == 0)
    }
}
