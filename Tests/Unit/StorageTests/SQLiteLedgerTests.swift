import Dispatch
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Ledger")
struct SQLiteLedgerTests {
    let scratch: Scratch
    let clock = TestClock()
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger(clock)
    }

    private func click(
        _ cell: String = "ad:1", _ verdict: Verdict = .counted, duplicates: LedgerEvent.Deduplication? = nil,
        rates: [LedgerEvent.RateLimit] = []
    ) -> LedgerEntry {
        LedgerEntry(events: [
            LedgerEvent(
                at: clock.now, kind: .click, cell: cell, viewer: "v", address: "192.0.2.0", userAgent: "agent", verdict: verdict,
                deduplication: duplicates, rates: rates)
        ])
    }

    @Test(
        "Units of one group count towards each other's rates and duplicates", arguments: [1, 7, 64],
        [1_000, 3_600_000])
    func countersInGroups(size: Int, window: Int64) throws {
        let rate = LedgerEvent.RateLimit(key: "address", limit: 32, window: window)
        let entries = (0...64).map { click(duplicates: .init(key: "\($0 / 2)", window: window), rates: [rate]) }
        let verdicts = try ledger.pool.writeWithoutTransaction { database in
            let writer = LedgerWriter(database)
            return try stride(from: 0, to: entries.count, by: size).flatMap { start in
                try writer.commit(Array(entries[start..<min(start + size, entries.count)]), now: clock.now).flatMap {
                    try $0.get().verdicts
                }
            }
        }
        #expect(verdicts == (0..<64).map { $0 % 2 == 0 ? .counted : .duplicate } + [.limited])
    }

    @Test("Memory does not grow with the number of viewers", .timeLimit(.untilStuck))
    func newViewers() throws {
        let victim = try Program.victim("viewers", scratch.path("ledger.sqlite"), "\(TestSize.full(400_000, small: 80_000))")
        var memory: [Int] = []
        while let line = victim.line() { memory.append(try #require(Int(line))) }
        try #require(memory.count == 8, "\(memory)")
        // The caches of SQLite fill, 8 MiB and 2 MiB; counters of the last minute are the same number all the time. After 120,000 viewers
        // nothing grows any more.
        #expect(memory[7] < 16_000, "\(memory)")
        #expect(TestSize.full(memory[7] - memory[4], small: 0) < 500, "\(memory)")
    }

    @Test("Concurrent openings create a ledger once")
    func openedAtOnce() throws {
        for _ in 0..<6 {
            let scratch = try Scratch()
            let faults = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do { _ = try scratch.ledger() } catch { faults.withLock { $0.append("\(error)") } }
            }
            #expect(faults.withLock { $0 } == [])
        }
    }

    @Test("A group that is rolled back leaves no row, also in rollups")
    func rolledBackGroup() throws {
        let counts = try ledger.pool.writeWithoutTransaction { database in
            let writer = LedgerWriter(database)
            // The last table that a group writes to.
            try database.execute(
                sql: "CREATE TEMP TRIGGER refused BEFORE INSERT ON rollup_day BEGIN SELECT RAISE(ABORT, 'refused'); END")
            #expect(throws: DatabaseError.self) { try writer.commit([click(), click()], now: 0) }
            #expect(!database.isInsideTransaction)
            try database.execute(sql: "DROP TRIGGER refused")
            _ = try writer.commit([click()], now: 0)
            return try Int.fetchAll(database, sql: "SELECT count(*) FROM event UNION ALL SELECT sum(count) FROM rollup_cell")
        }
        #expect(counts == [1, 1])
    }

    @Test("Expired duplicates and rates are removed in any order")
    func sweepsInTurns() async throws {
        func commit(_ numbers: Range<Int>, window: (Int) -> Int64) async throws {
            let entries = numbers.map { click(duplicates: .init(key: "k\u{0}\($0)", window: window($0))) }
            _ = try await ledger.commit(LedgerEntry(events: entries.flatMap(\.events)))
        }
        // Every third lasts.
        try await commit(0..<5_000) { $0 % 3 == 0 ? 3_600_000 : 400_000 }
        _ = try await ledger.removeEvents(before: 0)
        clock.advance(460_000)
        let count = "SELECT count(*), min(until) > \(clock.now) FROM allowance"
        #expect(try scratch.sqlite("ledger.sqlite", count) == "5000|0")
        // Each second brings a sweep, and a sweep a thousand.
        for number in 0..<8 where try scratch.sqlite("ledger.sqlite", count) != "1667|1" {
            clock.advance(1_000)
            _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: clock.now, kind: .undo, cell: "\(number)")]))
            // The sweep runs behind the commit, in the same queue as the next write.
            _ = try await ledger.removeEvents(before: 0)
        }
        #expect(try scratch.sqlite("ledger.sqlite", count) == "1667|1")
        #expect(try await ledger.commit(click(duplicates: .init(key: "k\u{0}3", window: 3_600_000))).verdicts == [.duplicate])
    }

    @Test("The writing connection is fully synchronous")
    func synchronous() async throws {
        #expect(try await ledger.commits.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
    }
}
