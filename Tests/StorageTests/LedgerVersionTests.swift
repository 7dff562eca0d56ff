import IntertwineLedger
import IntertwineStorage
import Testing

@Suite("Ledgers of previous versions")
struct LedgerVersionTests {
    let scratch: Scratch
    let clock = TestClock()
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try scratch.ledger(clock)
    }

    /// By texts, as versions up to 13 had them.
    private static let oldAllowances = """
        DROP TABLE allowance;
        CREATE TABLE allowance (key TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
        """

    private static let withoutInput = "DROP TABLE rollup_choice; ALTER TABLE event DROP COLUMN input;"

    @Test("Events of the previous version remain without input; new events have input")
    func input() async throws {
        _ = try await ledger.commit(click(at: clock.now))
        try scratch.sqlite(
            "ledger.sqlite", "\(Self.withoutInput) DELETE FROM grdb_migrations WHERE identifier GLOB '16:*'; PRAGMA user_version = 15")
        let ledger = try scratch.ledger(clock)
        var entry = click(at: clock.now)
        entry.events[0].input = EventInput(json: #"{"a":1}"#)
        _ = try await ledger.commit(entry)
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.input?.json) == [nil, #"{"a":1}"#])
    }

    @Test(
        "Duplicates and rates of the previous version stay valid, with short and long windows",
        arguments: [60_000, 3_600_000])
    func allowances(window: Int64) async throws {
        let until = clock.now + window
        try scratch.sqlite(
            "ledger.sqlite",
            """
            \(Self.withoutInput) DROP TABLE recent_allowance; \(Self.oldAllowances)
            INSERT INTO allowance VALUES ('d:once', \(until), 1), ('r:often', \(until), 2);
            DELETE FROM grdb_migrations WHERE identifier GLOB '1[56]:*'; PRAGMA user_version = 14
            """)
        let ledger = try scratch.ledger(clock)
        func click(_ key: String) -> LedgerEntry {
            LedgerEntry(events: [
                LedgerEvent(
                    at: clock.now, kind: .click, cell: "ad:1", deduplication: .init(key: key, window: window),
                    rates: [.init(key: "often", limit: 3, window: window)])
            ])
        }
        var verdicts: [Verdict] = []
        for key in ["once", "new", "newer"] { verdicts += try await ledger.commit(click(key)).verdicts }
        #expect(verdicts == [.duplicate, .counted, .limited])
    }

    @Test("Lists of the previous version are migrated")
    func lists() async throws {
        let until = clock.now + 60_000
        for (id, cell) in [("1", "a"), ("2", "b"), ("3", "a")] {
            _ = try await ledger.commit(
                LedgerEntry(
                    changes: [.add(list: .saved, viewer: "v", cell: cell, performance: "\(id).0", at: clock.now)],
                    selection: CommandRecord(id: id, cell: cell, viewer: "v", steps: [], expires: until)))
        }
        let before = try await ledger.cells(on: .saved, of: "v", after: nil, limit: 9).map(\.cell)
        try scratch.sqlite(
            "ledger.sqlite",
            """
            DROP TRIGGER listing_withdrawn; DROP TRIGGER listing_outlived; DROP TABLE withdrawal;
            DROP INDEX listing_cell; DROP INDEX listing_place; DROP INDEX listing_twin; DROP INDEX listing_removal;
            DROP INDEX listing_removed; DROP INDEX listing_leader; ALTER TABLE listing DROP COLUMN removes;
            ALTER TABLE listing DROP COLUMN until; ALTER TABLE listing DROP COLUMN leads;
            CREATE INDEX listing_order ON listing (viewer, list);
            DROP TABLE report_marker; DROP TABLE report_ad; DROP TABLE report_place; DROP TABLE report_total; DROP TABLE report_viewers;
            DROP TABLE tracker_call; ALTER TABLE event DROP COLUMN creative; ALTER TABLE event DROP COLUMN advertiser;
            DROP TABLE delivery; DROP TABLE exposure; DROP TABLE reservation; DROP TABLE seen_place; DROP TABLE claim;
            DROP TABLE known_creative; DROP TABLE given_page; DROP TABLE recent_allowance; \(Self.oldAllowances) \(Self.withoutInput)
            ALTER TABLE event DROP COLUMN campaign; ALTER TABLE event DROP COLUMN feed; ALTER TABLE event DROP COLUMN section;
            ALTER TABLE event DROP COLUMN position; ALTER TABLE event DROP COLUMN layout;
            DROP TABLE client; DROP INDEX idempotency_owner; ALTER TABLE idempotency DROP COLUMN owner; DROP INDEX selection_viewer;
            DROP TABLE passed_time; DELETE FROM grdb_migrations WHERE identifier GLOB '[356789]:*' OR identifier GLOB '1[0-9]:*'; PRAGMA user_version = 2
            """)
        let ledger = try scratch.ledger(clock)
        #expect(try await ledger.cells(on: .saved, of: "v", after: nil, limit: 9).map(\.cell) == before)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT DISTINCT until FROM listing; PRAGMA user_version") == "\(until)\n20")
        #expect(
            try scratch.sqlite("ledger.sqlite", "SELECT count(*), coalesce(sum(leads), 0) FROM listing WHERE cell = 'a'") == "2|1")
    }

    @Test("Events of the first version are migrated, and markers continue after them")
    func markers() async throws {
        for number in 0..<19 { _ = try await ledger.commit(click(at: Int64(number))) }
        try scratch.sqlite(
            "ledger.sqlite",
            """
            DROP TRIGGER listing_withdrawn; DROP TRIGGER listing_outlived; DROP TABLE withdrawal;
            DROP TABLE event_marker; DROP TABLE passed_time;
            DROP TABLE report_marker; DROP TABLE report_ad; DROP TABLE report_place; DROP TABLE report_total; DROP TABLE report_viewers;
            DROP TABLE tracker_call; ALTER TABLE event DROP COLUMN creative; ALTER TABLE event DROP COLUMN advertiser;
            DROP TABLE delivery; DROP TABLE exposure; DROP TABLE reservation; DROP TABLE seen_place; DROP TABLE claim;
            DROP TABLE known_creative; DROP TABLE given_page; DROP TABLE recent_allowance; \(Self.oldAllowances) \(Self.withoutInput)
            ALTER TABLE event DROP COLUMN campaign; ALTER TABLE event DROP COLUMN feed; ALTER TABLE event DROP COLUMN section;
            ALTER TABLE event DROP COLUMN position; ALTER TABLE event DROP COLUMN layout;
            DELETE FROM grdb_migrations WHERE identifier GLOB '[2679]:*' OR identifier GLOB '1[0-9]:*'; PRAGMA user_version = 1
            """)
        let ledger = try scratch.ledger()
        #expect(try await ledger.removeEvents(before: .max) == 19)
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT last FROM event_marker; PRAGMA user_version") == "19\n20")
    }
}
