import IntertwineFeed
import IntertwineStorage
import Synchronization
import Testing

@Suite("Reports, export and retention")
struct LedgerArchiveTests {
    private static let day: Int64 = 86_400_000
    let scratch: Scratch
    let ledger: SQLiteLedger

    init() async throws {
        scratch = try Scratch()
        ledger = try scratch.ledger()
        for (day, kind, cell, verdict, count) in [
            (10, .impression, "ad:1", .counted, 4), (10, .click, "ad:1", .counted, 1), (10, .click, "ad:1", .duplicate, 2),
            (11, .impression, "ad:2", .counted, 3), (11, .selection, "user:a", .counted, 5), (11, .click, "ad:2", .bot, 1),
            (12, .undo, "user:a", .counted, 1), (12, .click, "ad:1", .counted, 1), (12, .impression, "ae", .counted, 1),
        ] as [(Int64, LedgerEvent.Kind, String, Verdict, Int)] {
            for number in 0..<count {
                // The first and the last millisecond of the day.
                let at = day * Self.day + (number % 2 == 0 ? 0 : Self.day - 1)
                _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: at, kind: kind, cell: cell, verdict: verdict)]))
            }
        }
    }

    @Test("by day")
    func byDay() async throws {
        let rows = try await ledger.report(days: 0...11, by: .day).rows
        #expect(
            rows == [
                LedgerReport.Row(key: .day(10), counts: [.impression: 4, .click: 1]),
                LedgerReport.Row(key: .day(11), counts: [.impression: 3, .selection: 5]),
            ])
        #expect(rows[0].clickThroughRate == 0.25)
        #expect(try await ledger.report(days: 13...99, by: .day).rows.isEmpty)
    }

    @Test("by ad")
    func byAd() async throws {
        #expect(
            try await ledger.report(days: 10...12, by: .ad).rows == [
                LedgerReport.Row(key: .ad("ad:1"), counts: [.impression: 4, .click: 2]),
                LedgerReport.Row(key: .ad("ad:2"), counts: [.impression: 3]),
            ])
        #expect(try await ledger.report(days: 12...12, by: .ad).rows == [LedgerReport.Row(key: .ad("ad:1"), counts: [.click: 1])])
    }

    @Test("by ad of every kind whose prefix is named, and ids that differ in their bytes are two")
    func byPrefix() async throws {
        let cells = ["promo:a", "promotion:b", "ad:\u{E9}", "ad:e\u{301}", "ad:e\u{301}", "x:y"]
        for cell in cells {
            _ = try await ledger.commit(click(on: cell, at: 20 * Self.day))
        }
        let rows = try await ledger.report(LedgerReport.Question(days: 20...20, by: .ad, prefixes: ["promo", "ad", "none"])).rows
        #expect(rows.map { row in row.counts[.click] } == [2, 1, 1])
        let keys = rows.map { row -> [UInt8] in if case .ad(let cell) = row.key { Array(cell.utf8) } else { [] } }
        #expect(keys == ["ad:e\u{301}", "ad:\u{E9}", "promo:a"].map { Array($0.utf8) })
        #expect(try await ledger.report(LedgerReport.Question(days: 20...20, by: .ad, prefixes: [])).rows.isEmpty)
        let counted = try scratch.sqlite("ledger.sqlite", "SELECT count FROM rollup_cell WHERE cell LIKE 'ad:%' AND day = 20 ORDER BY cell")
        #expect(counted == "2\n1")
    }

    @Test("by verdict")
    func byVerdict() async throws {
        #expect(
            try await ledger.report(days: 10...12, by: .verdict).rows == [
                LedgerReport.Row(key: .verdict(.counted), counts: [.impression: 8, .click: 2, .selection: 5, .undo: 1]),
                LedgerReport.Row(key: .verdict(.duplicate), counts: [.click: 2]),
                LedgerReport.Row(key: .verdict(.bot), counts: [.click: 1]),
            ])
    }

    @Test("an export goes on behind its marker and meets every event once", arguments: [1, 4, 100])
    func export(limit: Int) async throws {
        var markers: [Int64] = []
        while case let page = try await ledger.events(after: markers.last ?? 0, limit: limit), !page.isEmpty {
            #expect(page.count <= limit)
            markers += page.map(\.marker)
        }
        #expect(markers.count == 19 && markers == Set(markers).sorted())
    }

    @Test("old events go, reports and markers stay")
    func retention() async throws {
        let before = try await ledger.report(days: 0...99, by: .ad)
        let last = try #require(try await ledger.events(after: 0, limit: 99).last)
        #expect(try await ledger.removeEvents(before: 11 * Self.day) == 7)
        #expect(try await ledger.removeEvents(before: 11 * Self.day) == 0)
        #expect(try await ledger.report(days: 0...99, by: .ad) == before)
        #expect(try await ledger.removeEvents(before: .max) == 12)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM event") == "0")
        let again = try scratch.ledger()
        for ledger in [again, ledger, again] {
            for _ in 0..<2 { _ = try await ledger.commit(click()) }
        }
        let markers = try await ledger.events(after: last.marker, limit: 9).map(\.marker)
        #expect(markers == Array(last.marker + 1...last.marker + 6))
        #expect(try await ledger.removeEvents(before: .max) == 6)
        #expect(try await ledger.removeEvents(before: .max) == 0)
        _ = try await ledger.commit(click())
        #expect(try await ledger.events(after: last.marker, limit: 9).map(\.marker) == [last.marker + 7])
    }

    /// Follows each click with the next before the ledger can look up.
    private final class RestlessClicker: Sendable {
        private let ledger: SQLiteLedger
        private let isOver = Mutex(false)

        init(_ ledger: SQLiteLedger) {
            self.ledger = ledger
        }

        func begin() {
            ledger.commit(click(at: 20 * LedgerArchiveTests.day)) { [self] _ in
                if !isOver.withLock({ $0 }) { begin() }
            }
        }

        func stop() { isOver.withLock { $0 = true } }
    }

    @Test("clicks that never pause hold up neither the sweep nor whatever else waits for the ledger", .timeLimit(.minutes(1)))
    func turns() async throws {
        let clicker = RestlessClicker(ledger)
        clicker.begin()
        defer { clicker.stop() }
        #expect(try await ledger.removeEvents(before: 11 * Self.day) == 7)
        try await ledger.checkReady()
        try await ledger.completeFile()
        #expect(try await ledger.report(days: 10...10, by: .day).rows.count == 1)
        #expect(try await ledger.passTime(to: 0, after: .zero).reached == 0)
    }

    @Test("events behind those of a clock that was ahead go too")
    func clockAhead() async throws {
        let now = SQLiteLedger.systemTime()
        func record(_ count: Int, at moment: Int64) async throws {
            let click = click(at: moment).events[0]
            _ = try await ledger.commit(LedgerEntry(events: Array(repeating: click, count: count)))
        }
        try await record(5_000, at: now + 30 * Self.day)
        try await record(1_000, at: now - 10 * Self.day)
        try await record(3_000, at: now - 1)
        #expect(try await ledger.removeEvents(before: now - Self.day) == 19 + 1_000)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*), min(at) > \(now - Self.day) FROM event") == "8000|1")
    }

    @Test("a ledger of the version before is taken over with what it holds")
    func versionBefore() async throws {
        try scratch.sqlite(
            "ledger.sqlite",
            """
            DROP TABLE event_marker; DROP TABLE passed_time;
            DROP TABLE report_marker; DROP TABLE report_ad; DROP TABLE report_place; DROP TABLE report_total; DROP TABLE report_viewers;
            DROP TABLE tracker_call; ALTER TABLE event DROP COLUMN creative; ALTER TABLE event DROP COLUMN advertiser;
            DROP TABLE delivery; DROP TABLE exposure; DROP TABLE reservation;
            ALTER TABLE event DROP COLUMN campaign; ALTER TABLE event DROP COLUMN feed; ALTER TABLE event DROP COLUMN section;
            ALTER TABLE event DROP COLUMN position; ALTER TABLE event DROP COLUMN layout;
            DELETE FROM grdb_migrations WHERE identifier GLOB '[2679]:*'; PRAGMA user_version = 1
            """)
        let ledger = try scratch.ledger()
        #expect(try await ledger.removeEvents(before: .max) == 19)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT last FROM event_marker; PRAGMA user_version") == "19\n9")
    }

    @Test("rollups are exactly what the events add up to")
    func exact() throws {
        let events = "SELECT at / 86400000 AS day, cell, kind, verdict, count(*) FROM event GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        let rollups = "SELECT day, cell, kind, verdict, count FROM rollup_cell ORDER BY 1, 2, 3, 4"
        #expect(try scratch.sqlite("ledger.sqlite", events) == scratch.sqlite("ledger.sqlite", rollups))
        let days = "SELECT day, kind, verdict, sum(count) FROM rollup_cell GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        #expect(try scratch.sqlite("ledger.sqlite", days) == scratch.sqlite("ledger.sqlite", "SELECT * FROM rollup_day ORDER BY 1, 2, 3"))
    }
}
