import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Uncounted events and clock jumps, in every ledger")
struct UncountedEventTests {
    @Test(
        "Uncounted events get a limited number of rows per minute; totals have all of them",
        arguments: LedgerKind.allCases)
    func bounded(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        for _ in 0..<4 {
            let events = Array(repeating: bench.impression("t", .bot), count: 500)
            #expect(try await ledger.commit(LedgerEntry(events: events)).verdicts == events.map { _ in .bot })
        }
        #expect(try bench.events == 600)
        _ = try await ledger.commit(LedgerEntry(events: [bench.impression("u")]))
        #expect(try bench.query("SELECT sum(count) FROM rollup_day") == "2001")
        clock.advance(60_000)
        _ = try await ledger.commit(LedgerEntry(events: [bench.impression("t", .bot)]))
        #expect(try bench.events == 602)
        // What counts is a row, however many of the others there are, and so is what is performed here.
        let counted =
            (0..<700).map { bench.impression("\($0)") } + [LedgerEvent(at: clock.now, kind: .dismissal, cell: "ad:1", verdict: .bot)]
        _ = try await ledger.commit(LedgerEntry(events: counted))
        #expect(try bench.events == 1_303)
        try await bench.settle()
        #expect(try bench.query("SELECT sum(count) FROM rollup_day") == "2703")
    }

    @Test("Acknowledged clicks beyond a rate are in the totals, also without a row", arguments: LedgerKind.allCases)
    func limitedClicks(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let click = bench.click(rates: [.init(key: "r", limit: 1, window: 60_000)])
        for number in 1...6 {
            _ = try await bench.ledger.commit(LedgerEntry(events: Array(repeating: click.events[0], count: 250)))
            #expect(try bench.query("SELECT sum(count) FROM rollup_day WHERE verdict = 'limited'") == "\(250 * number - 1)")
            #expect(try bench.query("SELECT sum(count) FROM rollup_cell") == "\(250 * number)")
        }
        #expect(try bench.events == 601)
    }

    @Test("A failed group leaves pending counts unchanged", arguments: LedgerKind.allCases)
    func failing(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        let repeated = LedgerEntry(events: [bench.impression("t"), bench.impression("t")])
        for _ in 0..<3 { _ = try await ledger.commit(repeated) }
        let selection = CommandRecord(id: "s", cell: "ad:1", viewer: nil, steps: [], expires: .max)
        let taken = LedgerEntry(events: [bench.impression("x")], selection: selection)
        _ = try await ledger.commit(taken)
        _ = try await ledger.commit(repeated)
        await #expect(throws: StoreError.self) { try await ledger.commit(taken) }
        #expect(try await ledger.report(days: 0...100_000, by: .day).rows.first?.counts[.impression] == 2)
        #expect(try bench.query("SELECT sum(count) FROM rollup_day") == "9")
    }

    @Test("After a clock was set back, nothing counts again within its window", arguments: LedgerKind.allCases, [1, 15, 29, 59] as [Int64])
    func clockSetBack(kind: LedgerKind, seconds: Int64) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        func entry(_ key: String, window: Int64, isKeyed: Bool) -> LedgerEntry {
            var entry = LedgerEntry(events: [
                LedgerEvent(at: clock.now, kind: .click, cell: "ad:1", deduplication: .init(key: key, window: window))
            ])
            guard isKeyed else { return entry }
            entry.idempotency = (
                IdempotencyKey(scope: "v", key: key, fingerprint: "f", expires: clock.now + window), { _ in [1] }
            )
            return entry
        }
        // Short and long windows, which are stored apart.
        let cases: [(String, Int64)] = [("a", 60_000), ("b", 3_600_000)]
        for (key, window) in cases {
            for isKeyed in [false, true] { _ = try await ledger.commit(entry("\(key)\(isKeyed)", window: window, isKeyed: isKeyed)) }
        }
        clock.advance(-1_000 * seconds)
        // Other writes let the sweep run, and another process reads what it has left.
        for _ in 0..<20 { _ = try await ledger.commit(bench.click("x")) }
        try await bench.settle()
        for ledger in [ledger, try bench.another()] {
            for (key, window) in cases {
                #expect(try await ledger.commit(entry("\(key)false", window: window, isKeyed: false)).verdicts == [.duplicate])
                let keyed = entry("\(key)true", window: window, isKeyed: true)
                #expect(try await ledger.commit(keyed) == .replayed([1]))
                if let (sought, _) = keyed.idempotency { #expect(try await ledger.replay(of: sought) == .replayed([1])) }
            }
        }
        // A window is over when its time has passed, by the new clock.
        clock.advance(60_000 + 1_000 * seconds + 10_000)
        #expect(try await ledger.commit(entry("afalse", window: 60_000, isKeyed: false)).verdicts == [.counted])
    }

    @Test(
        "Records made while the clock was ahead are expired after its correction", arguments: LedgerKind.allCases, [6, 24 * 365] as [Int64])
    func clockAhead(kind: LedgerKind, hours: Int64) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
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
        #expect(try await ledger.commit(click()) == .replayed([1]))
        clock.advance(-hours * 3_600_000)
        // The response is ahead by a quarter of its lifetime, or by far more.
        #expect(try await ledger.commit(click()) == (hours < 24 ? .replayed([1]) : .committed([.counted])))
        var unkeyed = click()
        unkeyed.idempotency = nil
        if hours < 24 { #expect(try await ledger.commit(unkeyed).verdicts == [.counted]) }
        // And windows are as long as ever.
        var again = click()
        again.idempotency = nil
        #expect(try await ledger.commit(again).verdicts == [.duplicate])
        again.events[0].deduplication = nil
        #expect(try await ledger.commit(again).verdicts == [.limited])
        // Nothing of it stays for a year; for hours it may, as nobody knows by how long a window it began.
        clock.advance(hours * 3_600_000)
        _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: clock.now, kind: .click, cell: "x", rates: [rate])]))
        clock.advance(-hours * 3_600_000)
        for time in [120_000, 120_000, min(hours * 3_600_000, 86_400_000)] {
            clock.advance(time)
            _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: clock.now, kind: .save, cell: "x")]))
            try await bench.settle()
        }
        #expect(try bench.query("SELECT count(*) FROM allowance") == "0")
    }
}

extension LedgerBench {
    func impression(_ token: String, _ verdict: Verdict = .counted, window: Int64 = 90_000_000) -> LedgerEvent {
        LedgerEvent(
            at: clock.now, kind: .impression, cell: "ad:1", verdict: verdict, deduplication: .init(key: token, window: window),
            rates: [.init(key: "a", limit: 3_000, window: 60_000)])
    }

    fileprivate var events: Int {
        get throws { Int(try query("SELECT count(*) FROM event")) ?? 0 }
    }
}
