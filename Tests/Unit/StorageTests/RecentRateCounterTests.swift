import GRDB
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

extension SQLiteLedger {
    /// The connections of the writer.
    var pool: DatabasePool { commits.writer.pool }
}

@Suite("Rate counters of short windows")
struct RecentRateCounterTests {
    let scratch: Scratch
    let clock = TestClock()
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger(clock)
    }

    private func click(_ key: String, window: Int64 = 60_000) -> LedgerEntry {
        LedgerEntry(events: [
            LedgerEvent(
                at: clock.now, kind: .click, cell: "ad:1", deduplication: .init(key: key, window: window),
                rates: [.init(key: "r" + key, limit: 9, window: window)])
        ])
    }

    /// Each key in a transaction of its own.
    private func verdicts(_ keys: Range<Int>, slots: Int = RecentRateCounters.defaultSlots, fresh: Bool = false) throws -> [Verdict] {
        try ledger.pool.writeWithoutTransaction { database in
            var writer = LedgerWriter(database, recentSlots: slots)
            return try keys.flatMap { key in
                if fresh { writer = LedgerWriter(database, recentSlots: slots) }
                return try writer.commit([click("\(key)")], now: clock.now).flatMap { try $0.get().verdicts }
            }
        }
    }

    private func count(_ table: String) throws -> Int {
        try #require(Int(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM \(table)")))
    }

    @Test("Processes that share a ledger see all counts at once")
    func processes() async throws {
        let processes = try [ledger] + (0..<2).map { _ in try scratch.ledger(clock) }
        for key in 0..<12 {
            for turn in 0..<6 {
                let verdict = try await processes[(key + turn) % 3].commit(click("\(key)")).verdicts
                #expect(verdict == [turn == 0 ? .counted : .duplicate])
            }
        }
        // Of a rate of nine, each finds what the others left.
        var counted = 0
        for turn in 0..<15 {
            var entry = click("rate")
            entry.events[0].deduplication = nil
            if try await processes[turn % 3].commit(entry).verdicts == [.counted] { counted += 1 }
        }
        #expect(counted == 9)
    }

    @Test("Counters beyond the memory limit are stored in the table, and found by other and later processes")
    func spills() throws {
        #expect(try verdicts(0..<40, slots: 16) == Array(repeating: .counted, count: 40))
        #expect(try count("allowance") > 50 && count("recent_allowance") == 7)
        for slots in [16, 4_096] { #expect(try verdicts(0..<40, slots: slots) == Array(repeating: .duplicate, count: 40)) }
        #expect(try verdicts(40..<60, slots: 16, fresh: true) == Array(repeating: .counted, count: 20))
        #expect(try verdicts(0..<60, fresh: true) == Array(repeating: .duplicate, count: 60))
        // Those with little memory read what those with much wrote.
        #expect(try verdicts(60..<90) == Array(repeating: .counted, count: 30))
        #expect(try verdicts(0..<90, slots: 16, fresh: true) == Array(repeating: .duplicate, count: 90))
        clock.advance(60_000)
        #expect(try verdicts(0..<90, slots: 64) == Array(repeating: .counted, count: 90))
    }

    @Test("A full table has capacity again after entries expired")
    func roomAgain() throws {
        try ledger.pool.writeWithoutTransaction { database in
            let writer = LedgerWriter(database, recentSlots: 64)
            func commit(_ keys: Range<Int>) throws -> [Verdict] {
                try keys.flatMap { key in try writer.commit([click("\(key)")], now: clock.now).flatMap { try $0.get().verdicts } }
            }
            #expect(try commit(0..<60) == Array(repeating: .counted, count: 60))
            let spilled = try count("allowance")
            #expect(spilled > 60)
            clock.advance(120_000)
            // Each transaction looks at a few slots.
            #expect(try commit(60..<72) == Array(repeating: .counted, count: 12))
            let more = try count("allowance")
            #expect(try commit(72..<80) == Array(repeating: .counted, count: 8))
            #expect(try count("allowance") == more)
        }
    }

    @Test("A group that is rolled back uses no quota, and earlier counts of others hold")
    func rolledBack() throws {
        for slots in [16, 1_024] {
            let window: Int64 = 60_000 + Int64(slots)
            try ledger.pool.writeWithoutTransaction { database in
                let one = LedgerWriter(database, recentSlots: slots)
                let others = (0..<30).map { click("\(slots) other \($0)", window: window) }
                let own = (0..<20).map { click("\(slots) \($0)", window: window) }
                _ = try LedgerWriter(database).commit(others, now: clock.now)
                try database.execute(
                    sql: "CREATE TEMP TRIGGER refused BEFORE INSERT ON rollup_day BEGIN SELECT RAISE(ABORT, 'refused'); END")
                #expect(throws: DatabaseError.self) {
                    try one.commit(own, now: clock.now)
                }
                try database.execute(sql: "DROP TRIGGER refused")
                let repeated = try one.commit(others, now: clock.now)
                #expect(try repeated.flatMap { try $0.get().verdicts } == Array(repeating: .duplicate, count: 30))
                let again = try one.commit(own, now: clock.now)
                #expect(try again.flatMap { try $0.get().verdicts } == Array(repeating: .counted, count: 20))
            }
        }
    }

    @Test("Expired rows are removed, and row numbers continue after them")
    func sweeps() async throws {
        for key in 0..<20 { _ = try await ledger.commit(click("\(key)")) }
        #expect(try count("recent_allowance") == 20)
        clock.advance(3_600_000)
        _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: clock.now, kind: .undo, cell: "x")]))
        // The sweep runs behind the commit, in the same queue as the next write.
        _ = try await ledger.removeEvents(before: 0)
        #expect(try count("recent_allowance") == 0)
        let other = try scratch.ledger(clock)
        #expect(try await other.commit(click("0")).verdicts == [.counted])
        #expect(try await ledger.commit(click("0")).verdicts == [.duplicate])
    }

    @Test("The table in memory behaves like a dictionary", arguments: 0..<8)
    func table(seed: Int) {
        var (recent, plain) = (RecentRateCounters(mostSlots: 4_096), [Int: RecentRateCounters.RateCounter]())
        var random = SeededRandom(seed: UInt64(seed))
        let keys = (0..<3_000).map { RateCounterKey.rate("\(seed) \($0)") }
        for round in 0..<400 {
            let before = plain
            for _ in 0..<40 {
                let number = Int.random(in: keys.indices, using: &random)
                guard plain[number] != nil || !recent.isFull() else { continue }
                let until = Int64(round) + Int64.random(in: 0..<60, using: &random)
                let counter = RecentRateCounters.RateCounter(until: until, used: .random(in: 1..<10, using: &random))
                recent.set(keys[number], counter)
                plain[number] = counter
            }
            if random.next() % 4 == 0 {
                recent.discard()
                plain = before
            } else {
                recent.hasCommitted()
            }
            for number in keys.indices {
                let found = recent.counter(keys[number])
                // What is over may be there, or be forgotten.
                if found != plain[number] { #expect(found == nil && (plain[number]?.until ?? .max) <= Int64(round)) }
            }
            recent.tidy { $0 <= Int64(round) }
            plain = plain.filter { recent.counter(keys[$0.key]) != nil }
            #expect(recent.count == plain.count)
        }
    }
}
