import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Every ledger")
struct LedgerContractTests {
    @Test("An acknowledged event is on disk with all its fields", arguments: LedgerKind.allCases)
    func event(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        #expect(try await ledger.commit(bench.click()) == .committed([.counted]))
        let row = try bench.query("SELECT at, kind, cell, viewer, address, user_agent, verdict FROM event")
        #expect(row == "\(clock.now)|click|ad:1|v|192.0.2.0|agent|counted")
        let anonymous = LedgerEvent(at: 5, kind: .impression, cell: "ad:2", verdict: .bot)
        _ = try await ledger.commit(LedgerEntry(events: [anonymous]))
        let events = try await ledger.events(after: 0, limit: 10)
        #expect(events.last?.event == anonymous)
    }

    @Test(
        "Deliveries of a campaign are counted with its events, by quarter hour and in total, and stored for frequency caps",
        arguments: LedgerKind.allCases)
    func delivery(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let impressionContext = ImpressionContext(
            campaign: "spring", feed: "news", section: "top", position: 7, layout: .table, frequencyCapTTL: 3_600)
        func seen(_ viewer: String?, _ verdict: Verdict = .counted) -> LedgerEntry {
            LedgerEntry(events: [
                LedgerEvent(
                    at: clock.now, kind: .impression, cell: "ad:1", viewer: viewer, verdict: verdict, impressionContext: impressionContext)
            ])
        }
        let span = clock.now / 900_000
        for entry in [seen("v"), seen("v"), seen(nil), seen("v", .bot)] { _ = try await ledger.commit(entry) }
        clock.advance(900_000)
        _ = try await ledger.commit(seen("w"))
        #expect(
            try bench.query("SELECT campaign, kind, span, sum(count) FROM delivery GROUP BY campaign, kind, span ORDER BY span")
                == "spring|impression|-1|4\nspring|impression|\(span)|3\nspring|impression|\(span + 1)|1")
        #expect(try bench.query("SELECT viewer, campaign, count FROM exposure ORDER BY at") == "v|spring|2\nw|spring|1")
        var kept = impressionContext
        kept.frequencyCapTTL = 0
        #expect(try await ledger.events(after: 0, limit: 10).map(\.event.impressionContext) == Array(repeating: kept, count: 5))
    }

    @Test("Duplicates do not count within the window and count after it", arguments: LedgerKind.allCases)
    func duplicates(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let entry = { bench.click(duplicates: .init(key: "k", window: 1_000)) }
        #expect(try await ledger.commit(entry()).verdicts == [.counted])
        clock.advance(999)
        #expect(try await ledger.commit(entry()).verdicts == [.duplicate])
        #expect(try await ledger.commit(bench.click(duplicates: .init(key: "other", window: 1_000))).verdicts == [.counted])
        clock.advance(1)
        #expect(try await ledger.commit(entry()).verdicts == [.counted])
        // Two in one entry, and two at the same instant.
        let both = LedgerEntry(
            events: bench.click(duplicates: .init(key: "x", window: 9)).events + bench.click(duplicates: .init(key: "x", window: 9)).events)
        #expect(try await ledger.commit(both).verdicts == [.counted, .duplicate])
        async let first = ledger.commit(bench.click(duplicates: .init(key: "y", window: 9)))
        async let second = ledger.commit(bench.click(duplicates: .init(key: "y", window: 9)))
        #expect(try await Set([first.verdicts, second.verdicts]) == [[.counted], [.duplicate]])
    }

    @Test("Keys with different bytes differ, in one group and in several", arguments: LedgerKind.allCases)
    func keysAreBytes(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        let events = ["\u{E9}", "e\u{301}"].map { bench.click(duplicates: .init(key: $0, window: 1_000)).events }.reduce([], +)
        #expect(try await ledger.commit(LedgerEntry(events: events)).verdicts == [.counted, .counted])
        #expect(try await ledger.commit(LedgerEntry(events: events)).verdicts == [.duplicate, .duplicate])
    }

    @Test("A stored response under the scope of the previous signing key is found and updated", arguments: LedgerKind.allCases)
    func formerScope(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        func key(_ scope: String, former: String? = nil, _ fingerprint: String = "f") -> IdempotencyKey {
            IdempotencyKey(scope: scope, formerScope: former, key: "k", fingerprint: fingerprint, expires: clock.now + 1_000)
        }
        var entry = bench.click()
        entry.idempotency = (key("old"), { _ in [1] })
        #expect(try await ledger.commit(entry) == .committed([.counted]))
        entry.idempotency = (key("new", former: "old"), { _ in [2] })
        #expect(try await ledger.replay(of: key("new", former: "old")) == .replayed([1]))
        #expect(try await ledger.replay(of: key("new")) == nil)
        #expect(try await ledger.commit(entry) == .replayed([1]))
        #expect(try await ledger.replay(of: key("new", former: "old", "g")) == .keyReused)
    }

    @Test(
        "Recorded and checked keys of an event may differ, in one group and in several", arguments: LedgerKind.allCases,
        [false, true])
    func keysAndRepeats(kind: LedgerKind, areOneGroup: Bool) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let named = { (viewer: String) in
            bench.click(duplicates: .init(keys: [viewer, "anyone"], repeats: [viewer, "anonymous"], window: 1_000)).events
        }
        let anonymous = bench.click(duplicates: .init(keys: ["anonymous"], repeats: ["anonymous", "anyone"], window: 1_000)).events
        let events = named("v") + named("w") + anonymous + named("v")
        var verdicts: [Verdict] = []
        for group in areOneGroup ? [events] : events.map({ [$0] }) {
            verdicts += try await ledger.commit(LedgerEntry(events: group)).verdicts
        }
        #expect(verdicts == [.counted, .counted, .duplicate, .duplicate])
        // The window of what the last of several left behind begins with it.
        clock.advance(900)
        #expect(try await ledger.commit(LedgerEntry(events: named("x"))).verdicts == [.counted])
        clock.advance(900)
        var late = anonymous
        late[0].at = clock.now
        #expect(try await ledger.commit(LedgerEntry(events: late)).verdicts == [.duplicate])
        clock.advance(100)
        late[0].at = clock.now
        #expect(try await ledger.commit(LedgerEntry(events: late)).verdicts == [.counted])
    }

    @Test("A rate counts up to its limit per window, and rejected events use no quota", arguments: LedgerKind.allCases)
    func rates(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let rate = LedgerEvent.RateLimit(key: "v", limit: 2, window: 1_000)
        var verdicts: [Verdict] = []
        for _ in 0..<4 {
            verdicts += try await ledger.commit(bench.click(duplicates: .init(key: "\(verdicts.count)", window: 1_000), rates: [rate]))
                .verdicts
        }
        #expect(verdicts == [.counted, .counted, .limited, .limited])
        clock.advance(1_000)
        // What was limited has left no duplicate behind, and what is a duplicate uses no rate.
        #expect(try await ledger.commit(bench.click(duplicates: .init(key: "3", window: 1_000), rates: [rate])).verdicts == [.counted])
        #expect(try await ledger.commit(bench.click(duplicates: .init(key: "3", window: 1_000), rates: [rate])).verdicts == [.duplicate])
        #expect(try await ledger.commit(bench.click(rates: [rate])).verdicts == [.counted])
        #expect(try await ledger.commit(bench.click(rates: [rate])).verdicts == [.limited])
    }

    @Test("A verdict of the caller is final", arguments: LedgerKind.allCases, Verdict.allCases.filter { $0 != .counted })
    func callersVerdict(kind: LedgerKind, _ verdict: Verdict) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        let entry = bench.click("ad:1", verdict, duplicates: .init(key: "k", window: 1_000))
        #expect(try await ledger.commit(entry).verdicts == [verdict])
        #expect(try await ledger.commit(bench.click(duplicates: .init(key: "k", window: 1_000))).verdicts == [.counted])
    }

    @Test("An idempotency key replays the response, within its lifetime and for its request only", arguments: LedgerKind.allCases)
    func idempotency(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        func key(_ fingerprint: String) -> IdempotencyKey {
            IdempotencyKey(scope: "v", key: "k", fingerprint: fingerprint, expires: clock.now + 86_400_000)
        }
        var entry = bench.click()
        entry.idempotency = (key("a"), { $0 == [.counted] ? [1, 2] : [] })
        #expect(try await ledger.replay(of: key("a")) == nil)
        #expect(try await ledger.commit(entry) == .committed([.counted]))
        entry.idempotency = (key("a"), { _ in [3] })
        #expect(try await ledger.commit(entry) == .replayed([1, 2]))
        #expect(try await ledger.replay(of: key("a")) == .replayed([1, 2]))
        entry.idempotency = (key("b"), { _ in [4] })
        #expect(try await ledger.commit(entry) == .keyReused)
        #expect(try await ledger.replay(of: key("b")) == .keyReused)
        #expect(try await ledger.events(after: 0, limit: 10).count == 1)
        clock.advance(86_400_000)
        #expect(try await ledger.commit(entry) == .committed([.counted]))
    }

    @Test("One of concurrent requests with one key is performed", arguments: LedgerKind.allCases)
    func idempotencyAtOnce(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        let entry = { (number: UInt8) in
            var entry = bench.click()
            entry.idempotency = (IdempotencyKey(scope: "v", key: "k", fingerprint: "f", expires: .max), { _ in [number] })
            return entry
        }
        let receipts = try await withThrowingTaskGroup(of: LedgerReceipt.self) { group in
            for number in 0..<20 {
                let entry = entry(UInt8(number))
                group.addTask { try await ledger.commit(entry) }
            }
            var receipts: [LedgerReceipt] = []
            for try await receipt in group { receipts.append(receipt) }
            return receipts
        }
        #expect(receipts.count { $0 == .committed([.counted]) } == 1)
        #expect(Set(receipts).count == 2)
        #expect(try await ledger.events(after: 0, limit: 99).count == 1)
    }

    @Test("A selection is undone once, within its undo window", arguments: LedgerKind.allCases)
    func undo(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let record = CommandRecord(
            id: "s", cell: "user:a", viewer: "v", steps: [.init(command: "analytics", undo: nil), .init(command: "save", undo: [0, 255])],
            expires: clock.now + 1_000)
        #expect(try await ledger.selection(id: "s") == nil)
        _ = try await ledger.commit(LedgerEntry(selection: record))
        #expect(try await ledger.selection(id: "s") == record)
        clock.advance(999)
        #expect(try await ledger.commit(LedgerEntry(undoes: "s")) == .committed([]))
        #expect(try await ledger.commit(LedgerEntry(events: bench.click().events, undoes: "s")) == .alreadyUndone)
        #expect(try await ledger.selection(id: "s")?.undoneAt == clock.now)
        var late = record
        late.id = "late"
        _ = try await ledger.commit(LedgerEntry(selection: late))
        clock.advance(1)
        #expect(try await ledger.commit(LedgerEntry(events: bench.click().events, undoes: "late")) == .expired)
        #expect(try await ledger.commit(LedgerEntry(undoes: "unknown")) == .expired)
        #expect(try await ledger.events(after: 0, limit: 9).isEmpty)
    }

    @Test("A unit that cannot be written fails without the others", arguments: LedgerKind.allCases)
    func neighbours(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        let record = CommandRecord(id: "s", cell: "c", viewer: nil, steps: [], expires: .max)
        _ = try await ledger.commit(LedgerEntry(selection: record))
        let results = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                var entry = bench.click("ad:\(number)")
                // The id is taken.
                if number % 10 == 0 { entry.selection = record }
                let unit = entry
                group.addTask { (try? await ledger.commit(unit)) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 36)
        #expect(try await ledger.events(after: 0, limit: 99).count == 36)
        #expect(try await ledger.report(days: 0...100_000, by: .day).rows.map { $0.counts[.click] } == [36])
    }

    @Test("Expired rows are removed over time", arguments: LedgerKind.allCases)
    func sweeps(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        for number in 0..<20 {
            var entry = bench.click(
                duplicates: .init(key: "\(number)", window: 600_000), rates: [.init(key: "\(number)", limit: 9, window: 600_000)])
            entry.idempotency = (IdempotencyKey(scope: "v", key: "\(number)", fingerprint: "f", expires: clock.now + 1_000), { _ in [] })
            entry.selection = CommandRecord(
                id: "\(number)", cell: "c", viewer: nil, steps: [.init(command: "c", undo: nil)], expires: clock.now + 1_000)
            _ = try await ledger.commit(entry)
        }
        let count = "SELECT (SELECT count(*) FROM allowance), (SELECT count(*) FROM idempotency), (SELECT count(*) FROM selection_step)"
        #expect(try bench.query(count) == "40|20|20")
        clock.advance(31 * 86_400_000)
        _ = try await ledger.commit(bench.click())
        try await bench.settle()
        #expect(try bench.query(count) == "0|0|0")
    }

    @Test("Counters of an impression survive a restart followed by clicks only", arguments: LedgerKind.allCases)
    func longWindows(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let impression = bench.click(duplicates: .init(key: "impression", window: 90_000_000))
        #expect(try await bench.ledger.commit(impression).verdicts == [.counted])
        let again = try bench.another()
        for second in 0..<3 {
            bench.clock.advance(1_000)
            let click = bench.click(duplicates: .init(key: "\(second)", window: 60_000))
            #expect(try await again.commit(click).verdicts == [.counted])
            // Behind its sweep.
            _ = try await again.report(days: 0...0, by: .day)
        }
        #expect(try await again.commit(impression).verdicts == [.duplicate])
    }

    @Test("While the clock is ahead by more than a day, the keys of valid tokens stay", arguments: LedgerKind.allCases)
    func clockAhead(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock, hour) = (bench.ledger, bench.clock, Int64(3_600_000))
        /// The hourly run of the service, and the sweep after a commit.
        func sweep() async throws {
            _ = try await ledger.passTime(to: clock.now, after: .seconds(3_600))
            _ = try await ledger.commit(bench.click())
            try await bench.settle()
        }
        let impression = bench.click(duplicates: .init(key: "token", window: 25 * hour))
        #expect(try await ledger.commit(impression).verdicts == [.counted])
        try await sweep()
        for jump in [26, 24 * 365] as [Int64] {
            clock.advance(jump * hour)
            try await sweep()
            clock.advance(-jump * hour)
            #expect(try await ledger.commit(impression).verdicts == [.duplicate], "\(jump) hours")
        }
        // Time that passes removes them.
        for _ in 0..<27 {
            clock.advance(hour)
            try await sweep()
        }
        #expect(try bench.query("SELECT count(*) FROM allowance") == "0")
    }

    @Test("Expired rows are removed under continuous load", arguments: LedgerKind.allCases, [10, 250, 3_000])
    func sweepsUnderLoad(kind: LedgerKind, size: Int) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        let rounds = max(40, 10_000 / size)
        for round in 0..<rounds {
            let entries = (0..<size).map { bench.click(duplicates: .init(key: "\(round * size + $0)", window: 600_000)) }
            _ = try await ledger.commit(LedgerEntry(events: entries.flatMap(\.events)))
            clock.advance(Int64(9_600_000 / rounds))
        }
        try await bench.settle()
        // A sixteenth is alive; as many again may wait for their turn.
        let left = try #require(Int(try bench.query("SELECT count(*) FROM allowance")))
        #expect(left <= max(2_000, rounds * size / 6), "\(left)")
    }

    @Test("Unused registrations are evicted before used ones", arguments: LedgerKind.allCases)
    func unusedClients(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        func register(_ name: String, at now: Int64) async throws {
            try await bench.ledger.register(client: name, digest: "d-\(name)", capabilities: "c", now: now)
        }
        for name in ["used", "unused"] { try await register(name, at: 1) }
        for _ in 0..<2 { try await bench.ledger.use(client: "d-used") }
        for number in 0..<1_200 { try await register("flood\(number)", at: 1_000 + Int64(number)) }
        #expect(try await bench.ledger.capabilities(of: "d-used") == "c")
        #expect(try await bench.ledger.capabilities(of: "d-unused") == nil)
        // A used client that registers again remains a used one.
        try await register("used", at: 200_000_000)
        for number in 0..<1_200 { try await register("flood\(number)", at: 300_000_000 + Int64(number)) }
        #expect(try await bench.ledger.capabilities(of: "d-used") == "c")
    }

    @Test(
        "Clients are found by digest in every process; the oldest are evicted, per name and in total", arguments: LedgerKind.allCases)
    func clients(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        func register(_ name: String, _ number: Int, at now: Int) async throws {
            try await bench.ledger.register(client: name, digest: "\(name)\(number)", capabilities: "c\(number)", now: Int64(now))
        }
        for number in 0..<10 {
            for _ in 0..<2 { try await register("app", number, at: number) }
        }
        let other = try bench.another()
        var found: [String?] = []
        for number in 0..<10 { found.append(try await other.capabilities(of: "app\(number)")) }
        #expect(found == [nil, nil] + (2..<10).map { "c\($0)" })
        // Whoever says the same again a day later has just said it.
        for name in 0..<999 { try await register("n\(name)", 0, at: 100 + name) }
        try await register("app", 9, at: 90_000_000)
        for name in 999..<1_004 { try await register("n\(name)", 0, at: 90_000_000 + name) }
        #expect(try await other.capabilities(of: "app9") == "c9")
        #expect(try await other.capabilities(of: "n40") == nil)
        #expect(try await other.capabilities(of: "n50") == "c0")
        #expect(try await other.capabilities(of: "n10030") == "c0")
    }
}
