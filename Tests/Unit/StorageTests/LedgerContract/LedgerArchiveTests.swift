import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Reports, export and retention, in every ledger")
struct LedgerArchiveTests {
    /// The tables of reservations remain, and no event has one of the later verdicts.
    @Test("The events and reports of a ledger of the build before are read, and it goes on", arguments: LedgerKind.allCases)
    func formerLedger(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        func see(_ token: Int, in ledger: any PersistentLedger) async throws -> Verdict? {
            let terms = LedgerEvent.Terms(campaign: "a", total: 3)
            let event = VerdictModelTests.event(of: "a", token: token, at: bench.clock.now, terms)
            return try await ledger.commit(LedgerEntry(events: [event])).verdicts.first
        }
        for token in [1, 2, 2] { _ = try await see(token, in: bench.ledger) }
        _ = try await bench.ledger.commit(bench.click("ad:1", .late))
        try await bench.settle()
        let groupings = [LedgerReport.Grouping.campaign, .verdict, .day]
        let days = 0...Int(LedgerTime.day(of: bench.clock.now))
        func told(by ledger: any PersistentLedger) async throws -> [String] {
            var told = [try await "\(ledger.events(after: 0, limit: 99))"]
            for grouping in groupings { told.append(try await "\(ledger.report(days: days, by: grouping))") }
            return told
        }
        let before = try await told(by: bench.ledger)
        let tables = "CREATE TABLE reservation (process text); CREATE TABLE claim (viewer text); CREATE TABLE known_creative (kind text);"
        let version =
            kind == .sqlite
            ? """
            DROP TRIGGER listing_added; DROP TRIGGER listing_changed; DROP TRIGGER listing_gone; DROP TABLE list_count; DROP TABLE list_change;
            PRAGMA user_version = 1
            """
            : """
            DROP FUNCTION intertwine_list_changed CASCADE; DROP TABLE list_count; DROP TABLE list_change;
            UPDATE intertwine_schema SET version = 1 WHERE part = 'ledger'
            """
        _ = try bench.query(tables + version)
        let ledger = try bench.another()
        #expect(try await told(by: ledger) == before)
        #expect(try await [see(2, in: ledger), see(3, in: ledger), see(4, in: ledger)] == [.duplicate, .counted, .surplus])
    }

    /// Follows each click with the next before the ledger can look up.
    private final class RestlessClicker: Sendable {
        private let ledger: any Ledger
        private let isOver = Mutex(false)

        init(_ ledger: any Ledger) {
            self.ledger = ledger
        }

        func begin() {
            ledger.commit(click(at: 20 * LedgerBench.day)) { [self] _ in
                if !isOver.withLock({ $0 }) { begin() }
            }
        }

        func stop() { isOver.withLock { $0 = true } }
    }

    @Test("by day", arguments: LedgerKind.allCases)
    func byDay(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        let rows = try await ledger.report(days: 0...11, by: .day).rows
        #expect(
            rows == [
                LedgerReport.Row(key: .day(10), counts: [.impression: 4, .click: 1]),
                LedgerReport.Row(key: .day(11), counts: [.impression: 3, .selection: 5]),
            ])
        #expect(rows[0].clickThroughRate == 0.25)
        #expect(try await ledger.report(days: 13...99, by: .day).rows.isEmpty)
    }

    @Test("by ad", arguments: LedgerKind.allCases)
    func byAd(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        #expect(
            try await ledger.report(days: 10...12, by: .ad).rows == [
                LedgerReport.Row(key: .ad("ad:1"), counts: [.impression: 4, .click: 2]),
                LedgerReport.Row(key: .ad("ad:2"), counts: [.impression: 3]),
            ])
        #expect(try await ledger.report(days: 12...12, by: .ad).rows == [LedgerReport.Row(key: .ad("ad:1"), counts: [.click: 1])])
    }

    @Test("By ad, for each kind with its prefix; ids with different bytes differ", arguments: LedgerKind.allCases)
    func byPrefix(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        let cells = ["promo:a", "promotion:b", "ad:\u{E9}", "ad:e\u{301}", "ad:e\u{301}", "x:y"]
        for cell in cells {
            _ = try await ledger.commit(click(on: cell, at: 20 * LedgerBench.day))
        }
        let rows = try await ledger.report(LedgerReport.Query(days: 20...20, by: .ad, prefixes: ["promo", "ad", "none"])).rows
        #expect(rows.map { row in row.counts[.click] } == [2, 1, 1])
        let keys = rows.map { row -> [UInt8] in if case .ad(let cell) = row.key { Array(cell.utf8) } else { [] } }
        #expect(keys == ["ad:e\u{301}", "ad:\u{E9}", "promo:a"].map { Array($0.utf8) })
        #expect(try await ledger.report(LedgerReport.Query(days: 20...20, by: .ad, prefixes: [])).rows.isEmpty)
        let counted = try bench.query("SELECT count FROM rollup_cell WHERE cell LIKE 'ad:%' AND day = 20 ORDER BY cell")
        #expect(counted == "2\n1")
    }

    @Test("by verdict", arguments: LedgerKind.allCases)
    func byVerdict(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        #expect(
            try await ledger.report(days: 10...12, by: .verdict).rows == [
                LedgerReport.Row(key: .verdict(.counted), counts: [.impression: 8, .click: 2, .selection: 5, .undo: 1]),
                LedgerReport.Row(key: .verdict(.duplicate), counts: [.click: 2]),
                LedgerReport.Row(key: .verdict(.bot), counts: [.click: 1]),
            ])
    }

    @Test("Unauthenticated events are counted by reason, have the verdict unknown, and leave no row", arguments: LedgerKind.allCases)
    func refused(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let refused: [RejectedEvent: Int] = [
            RejectedEvent(.impression, .forged): 500, RejectedEvent(.impression, .gone): 2, RejectedEvent(.click, .forged): 1,
        ]
        for _ in 0..<2 {
            let receipt = try await bench.ledger.commit(LedgerEntry(refused: refused))
            #expect(receipt == LedgerReceipt.committed([]))
        }
        let day = Int(bench.clock.now / 86_400_000)
        #expect(
            try await bench.ledger.report(days: day...day, by: .verdict).rows == [
                LedgerReport.Row(key: .verdict(.unknown), counts: [.impression: 1_004, .click: 2])
            ])
        #expect(
            try await bench.ledger.report(days: day...day, by: .reason).rows == [
                LedgerReport.Row(key: .verdict(.forged), counts: [.impression: 1_000, .click: 2]),
                LedgerReport.Row(key: .verdict(.gone), counts: [.impression: 4]),
            ])
        #expect(try await bench.ledger.events(after: 0, limit: 10).isEmpty)
    }

    @Test("An export continues after its marker and has each event once", arguments: LedgerKind.allCases, [1, 4, 100])
    func export(kind: LedgerKind, limit: Int) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        var markers: [Int64] = []
        while case let page = try await ledger.events(after: markers.last ?? 0, limit: limit), !page.isEmpty {
            #expect(page.count <= limit)
            markers += page.map(\.sequence)
        }
        #expect(markers.count == 19 && markers == Set(markers).sorted())
    }

    @Test("Rollups equal the sums of the events", arguments: LedgerKind.allCases)
    func exact(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let events = "SELECT at / 86400000 AS day, cell, kind, verdict, count(*) FROM event GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        let rollups = "SELECT day, cell, kind, verdict, sum(count) FROM rollup_cell GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        #expect(try bench.query(events) == bench.query(rollups))
        let days = "SELECT day, kind, verdict, sum(count) FROM rollup_cell GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        let ofDays = "SELECT day, kind, verdict, sum(count) FROM rollup_day GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        #expect(try bench.query(days) == bench.query(ofDays))
    }

    @Test("Old events are removed; reports and markers remain", arguments: LedgerKind.allCases)
    func retention(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        let before = try await ledger.report(days: 0...99, by: .ad)
        let last = try #require(try await ledger.events(after: 0, limit: 99).last)
        #expect(try await ledger.markers() == (0, last.sequence))
        #expect(try await ledger.removeEvents(before: 11 * LedgerBench.day) == 7)
        #expect(try await ledger.markers() == (7, last.sequence))
        #expect(try await ledger.removeEvents(before: 11 * LedgerBench.day) == 0)
        #expect(try await ledger.report(days: 0...99, by: .ad) == before)
        #expect(try await ledger.removeEvents(before: .max) == 12)
        #expect(try bench.query("SELECT count(*) FROM event") == "0")
        #expect(try await ledger.markers() == (last.sequence, last.sequence))
        let again = try bench.another()
        for ledger in [again, ledger, again] {
            for _ in 0..<2 { _ = try await ledger.commit(bench.click()) }
        }
        let markers = try await ledger.events(after: last.sequence, limit: 9).map(\.sequence)
        #expect(markers == Array(last.sequence + 1...last.sequence + 6))
        #expect(try await ledger.removeEvents(before: .max) == 6)
        #expect(try await ledger.removeEvents(before: .max) == 0)
        _ = try await ledger.commit(bench.click())
        #expect(try await ledger.events(after: last.sequence + 6, limit: 9).count == 1)
    }

    @Test(
        "Continuous clicks block neither retention nor export nor reports", .timeLimit(.untilStuck), arguments: LedgerKind.allCases)
    func turns(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let ledger = bench.ledger
        let clicker = RestlessClicker(ledger)
        clicker.begin()
        defer { clicker.stop() }
        #expect(try await ledger.removeEvents(before: 11 * LedgerBench.day) == 7)
        try await ledger.checkReady()
        #expect(try await ledger.events(after: 0, limit: 5).count == 5)
        #expect(try await ledger.report(days: 10...10, by: .day).rows.count == 1)
        #expect(try await ledger.passTime(to: 0, after: .zero).now == 0)
    }

    @Test("Events after those of a fast clock are removed too", arguments: LedgerKind.allCases)
    func clockAhead(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let (ledger, day) = (bench.ledger, LedgerBench.day)
        let now = SQLiteLedger.systemTime()
        func record(_ count: Int, at moment: Int64) async throws {
            let click = click(at: moment).events[0]
            _ = try await ledger.commit(LedgerEntry(events: Array(repeating: click, count: count)))
        }
        try await record(5_000, at: now + 30 * day)
        try await record(1_000, at: now - 10 * day)
        try await record(3_000, at: now - 1)
        #expect(try await ledger.removeEvents(before: now - day) == 19 + 1_000)
        #expect(try bench.query("SELECT count(*), count(*) FILTER (WHERE at <= \(now - day)) FROM event") == "8000|0")
    }

    @Test("Elapsed time is stored for the next process", arguments: LedgerKind.allCases)
    func passedTime(kind: LedgerKind) async throws {
        let bench = try await LedgerBench.reported(kind)
        let last = try #require(try await bench.ledger.events(after: 0, limit: 99).last).event.at
        #expect(try await bench.ledger.passTime(to: last + 1_000, after: .zero).now == last + 1_000)
        // A leap of more than a day is doubted.
        #expect(try await bench.another().passTime(to: last + 9 * LedgerBench.day, after: .seconds(1)).now == last + 2_000)
    }

    @Test("Erasure removes a viewer's data and the name in events; counts remain", arguments: LedgerKind.allCases)
    func erasure(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let (ledger, clock) = (bench.ledger, bench.clock)
        for viewer in ["v", "w"] {
            let id = "s\(viewer)"
            let key = IdempotencyKey(scope: viewer, owner: "owner \(viewer)", key: "k", fingerprint: "f", expires: clock.now + 1_000)
            let impressionContext = ImpressionContext(campaign: "c", feed: "main", frequencyCapTTL: 60)
            _ = try await ledger.commit(
                LedgerEntry(
                    events: [
                        LedgerEvent(at: clock.now, kind: .impression, cell: "ad:1", viewer: viewer, impressionContext: impressionContext)
                    ],
                    changes: [.add(list: .saved, viewer: viewer, cell: "user:a", performance: id, at: clock.now)],
                    selection: CommandRecord(id: id, cell: "user:a", viewer: viewer, steps: [], expires: clock.now + 1_000),
                    idempotency: (key, { _ in [1] })))
        }
        let erased = try await ledger.erase(viewer: "v", owners: ["owner v", "nobody"])
        #expect([erased.listed, erased.selections, erased.exposures, erased.idempotencyKeys, erased.events] == [1, 1, 1, 1, 1])
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == [nil, "w"])
        #expect(try await ledger.selection(id: "sv") == nil)
        #expect(try await ledger.selection(id: "sw") != nil)
        #expect(try await !ledger.contains("user:a", on: .saved, of: "v"))
        #expect(try await ledger.contains("user:a", on: .saved, of: "w"))
        #expect(try await ledger.report(days: 0...100_000, by: .day).rows.first?.counts[.impression] == 2)
    }
}

extension LedgerBench {
    static let day: Int64 = 86_400_000

    /// A ledger with some days of events.
    static func reported(_ kind: LedgerKind) async throws -> LedgerBench {
        let bench = try LedgerBench(kind, hasClock: false)
        for (day, kind, cell, verdict, count) in [
            (10, .impression, "ad:1", .counted, 4), (10, .click, "ad:1", .counted, 1), (10, .click, "ad:1", .duplicate, 2),
            (11, .impression, "ad:2", .counted, 3), (11, .selection, "user:a", .counted, 5), (11, .click, "ad:2", .bot, 1),
            (12, .undo, "user:a", .counted, 1), (12, .click, "ad:1", .counted, 1), (12, .impression, "ae", .counted, 1),
        ] as [(Int64, LedgerEvent.Kind, String, Verdict, Int)] {
            for number in 0..<count {
                // The first and the last millisecond of the day.
                let at = day * Self.day + (number % 2 == 0 ? 0 : Self.day - 1)
                _ = try await bench.ledger.commit(LedgerEntry(events: [LedgerEvent(at: at, kind: kind, cell: cell, verdict: verdict)]))
            }
        }
        return bench
    }
}
