import Foundation
import IntertwineFeed
import IntertwineStorage
import TestSupport
import Testing

@Suite("Events that do not count, and clocks that jump")
struct UncountedEventTests {
    let scratch: Scratch
    let clock = TestClock()
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger(clock)
    }

    private func impression(_ token: String, _ verdict: Verdict = .counted, window: Int64 = 90_000_000) -> LedgerEvent {
        LedgerEvent(
            at: clock.now, kind: .impression, cell: "ad:1", verdict: verdict, deduplication: .init(key: token, window: window),
            rates: [.init(key: "a", limit: 3_000, window: 60_000)])
    }

    private var rows: Int {
        get throws { Int(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM event").trimmingCharacters(in: .whitespaces)) ?? 0 }
    }

    @Test("one token 500 times a body, again and again, is one row, and costs the disk next to nothing; reports have all of it")
    func repeated() async throws {
        let body = LedgerEntry(events: Array(repeating: impression("t"), count: 500))
        #expect(try await ledger.commit(body).verdicts.filter { $0 == .counted }.count == 1)
        let before = try scratch.size("ledger.sqlite-wal")
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<50 { _ = try await ledger.commit(body) } }
            }
            try await group.waitForAll()
        }
        // Counts are written once a second at the most, each time some pages.
        let seconds = Int(start.duration(to: .now).components.seconds) + 2
        #expect(try scratch.size("ledger.sqlite-wal") - before <= seconds * 100_000)
        #expect(try rows == 1)
        let report = try await ledger.report(days: 0...100_000, by: .verdict)
        #expect(report.rows.first { $0.key == .verdict(.duplicate) }?.counts[.impression] == 200 * 500 + 499)
        #expect(report.rows.first { $0.key == .verdict(.counted) }?.counts[.impression] == 1)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT sum(count) FROM rollup_cell") == "\(201 * 500)")
    }

    @Test("of what does not count, so many a minute are rows, and all of it is counted, at once or by the next event that counts")
    func bounded() async throws {
        for _ in 0..<4 {
            let events = Array(repeating: impression("t", .bot), count: 500)
            #expect(try await ledger.commit(LedgerEntry(events: events)).verdicts == events.map { _ in .bot })
        }
        #expect(try rows == 600)
        _ = try await ledger.commit(LedgerEntry(events: [impression("u")]))
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT sum(count) FROM rollup_day") == "2001")
        clock.advance(60_000)
        _ = try await ledger.commit(LedgerEntry(events: [impression("t", .bot)]))
        #expect(try rows == 602)
        // What counts is a row, however many of the others there are, and so is what is performed here.
        let counted = (0..<700).map { impression("\($0)") } + [LedgerEvent(at: clock.now, kind: .dismissal, cell: "ad:1", verdict: .bot)]
        _ = try await ledger.commit(LedgerEntry(events: counted))
        #expect(try rows == 1_303)
        try await ledger.completeFile()
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT sum(count) FROM rollup_day") == "2703")
    }

    @Test("a group that fails leaves the counts that wait as they were")
    func failing() async throws {
        let repeated = LedgerEntry(events: [impression("t"), impression("t")])
        for _ in 0..<3 { _ = try await ledger.commit(repeated) }
        let selection = SelectionRecord(id: "s", cell: "ad:1", viewer: nil, steps: [], expires: .max)
        let taken = LedgerEntry(events: [impression("x")], selection: selection)
        _ = try await ledger.commit(taken)
        _ = try await ledger.commit(repeated)
        await #expect(throws: StoreError.self) { try await ledger.commit(taken) }
        #expect(try await ledger.report(days: 0...100_000, by: .day).rows.first?.counts[.impression] == 2)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT sum(count) FROM rollup_day") == "9")
    }

    @Test("what began while the clock was ahead is over once it is back", arguments: [6, 24 * 365] as [Int64])
    func clockAhead(hours: Int64) async throws {
        let rate = LedgerEvent.RateLimit(key: "a", limit: 1, window: 60_000)
        func click() -> LedgerEntry {
            let key = IdempotencyKey(scope: "v", key: "k", fingerprint: "f", expires: clock.now + 86_400_000)
            return LedgerEntry(
                events: [
                    LedgerEvent(
                        at: clock.now, kind: .click, cell: "ad:1", deduplication: .init(key: "d", window: 30_000), rates: [rate])
                ], idempotency: (key, { _ in [1] }))
        }
        clock.advance(hours * 3_600_000)
        #expect(try await ledger.commit(click()).verdicts == [.counted])
        #expect(try await ledger.commit(click()).outcome == .replayed([1]))
        clock.advance(-hours * 3_600_000)
        #expect(try await ledger.commit(click()).verdicts == [.counted])
        // And windows are as long as ever.
        var again = click()
        again.idempotency = nil
        #expect(try await ledger.commit(again).verdicts == [.duplicate])
        again.events[0].deduplication = nil
        #expect(try await ledger.commit(again).verdicts == [.limited])
        // Nothing of it stays for that year.
        clock.advance(hours * 3_600_000)
        _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: clock.now, kind: .click, cell: "x", rates: [rate])]))
        clock.advance(-hours * 3_600_000)
        for _ in 0..<3 {
            clock.advance(120_000)
            _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: clock.now, kind: .save, cell: "x")]))
            try await ledger.completeFile()
        }
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM allowance") == "0")
    }
}
