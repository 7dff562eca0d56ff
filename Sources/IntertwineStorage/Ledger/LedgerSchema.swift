import Foundation
import GRDB
import IntertwineLedger

/// The schema of the ledger's file.
///
/// The ledger and the items have separate files, so a long import never blocks a click, and a click never makes feed pages stale.
/// Times are milliseconds since 1970-01-01 UTC, and days are days since then.
/// The table `event` is append-only and has no index but its own order, so that a commit costs the same at any size.
/// Rows of the lookup tables (`allowance`, `recent_allowance`, `idempotency`, `selection`) are removed after they expire.
enum LedgerSchema {
    /// The application id, "INTL" in ASCII.
    private static let applicationID: Int32 = 0x494E_544C
    static let version: Int32 = 20

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: ledger") { database in
            try database.execute(sql: events)
            try database.execute(sql: viewers)
        }
        migrator.registerMigration("2: last marker") { try $0.execute(sql: markers) }
        migrator.registerMigration("3: places of listed cells") { try $0.execute(sql: placements) }
        migrator.registerMigration("4: allowances are swept in their order") { try $0.execute(sql: "DROP INDEX allowance_until") }
        migrator.registerMigration("5: removals from lists") { try $0.execute(sql: removals) }
        migrator.registerMigration("6: time that has passed") { try $0.execute(sql: time) }
        migrator.registerMigration("7: campaigns") { try $0.execute(sql: campaigns) }
        migrator.registerMigration("8: clients, and what is a viewer's") { try $0.execute(sql: clients) }
        migrator.registerMigration("9: reports and trackers") { try $0.execute(sql: reports) }
        migrator.registerMigration("10: parts of goals") { try $0.execute(sql: parts) }
        migrator.registerMigration("11: places that others saw") { try $0.execute(sql: creation(of: .seenPlace)) }
        migrator.registerMigration("12: what viewers were given") { try $0.execute(sql: creation(of: .claim)) }
        migrator.registerMigration("13: advertisements of declared campaigns, pages of viewers") {
            try $0.execute(sql: creation(of: .knownCreative, .givenPage))
        }
        migrator.registerMigration("14: what was taken off lists is counted") { try $0.execute(sql: withdrawals) }
        migrator.registerMigration("15: allowances by digests, recent ones apart") { try makeRecentAllowances($0) }
        migrator.registerMigration("16: input of slots") { try $0.execute(sql: input) }
        migrator.registerMigration("17: identity", migrate: StoreIdentity.migrate)
        migrator.registerMigration("18: digests of events") { try $0.execute(sql: EventDigests.schema) }
        migrator.registerMigration("19: digests of rows") { database in
            // Digests of events include the types of values from now on.
            try database.execute(sql: "DELETE FROM event_digest;\n" + TableCheck.addition(of: tablesWithDigests, in: database))
        }
        migrator.registerMigration("20: digests of short-lived rows") { database in
            try database.execute(sql: TableCheck.addition(of: shortLivedTables, in: database))
        }
        return migrator
    }

    /// The tables whose rows have digests, with ``shortLivedTables``.
    private static let tablesWithDigests = [
        "rollup_cell", "rollup_day", "rollup_choice", "idempotency", "selection", "selection_step", "listing", "client", "delivery",
        "exposure", "known_creative", "report_marker", "report_ad", "report_place", "report_total", "report_viewers", "tracker_call",
        "event_marker", "passed_time", "withdrawal",
    ]

    /// Rate counters, the state of running processes, and the identity of the store.
    private static let shortLivedTables = [
        "allowance", "recent_allowance", "reservation", "seen_place", "claim", "given_page", "store_identity",
    ]

    private static let events = """
        CREATE TABLE event (
            id INTEGER PRIMARY KEY,     -- the marker of exports
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,         -- impression, click, selection, deselection, dismissal, save, undo
            cell TEXT NOT NULL,         -- such as ad:1
            viewer TEXT,
            address TEXT,               -- truncated or hashed
            user_agent TEXT,
            verdict TEXT NOT NULL       -- counted, duplicate, expired, bot, prefetch, limited, unknown
        );
        """
        + creation(of: .rollupCell, .rollupDay) + """
            -- Rate counters: the number of counted events per key until a time. A limit of one detects duplicates.
            CREATE TABLE allowance (
                key TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL, used INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX allowance_until ON allowance (until);
            """

    private static func creation(of tables: TableSchema...) -> String { tables.map { $0.creation(.sqlite) }.joined() }

    private static let viewers =
        creation(of: .idempotency, .selection, .selectionStep) + """
            -- Entries of viewers' lists, one row per performance. A cell is on the list if it has a row.
            CREATE TABLE listing (
                mark INTEGER PRIMARY KEY, viewer TEXT NOT NULL, list TEXT NOT NULL, cell TEXT NOT NULL, performance TEXT NOT NULL,
                at INTEGER NOT NULL
            );
            CREATE INDEX listing_order ON listing (viewer, list);
            CREATE UNIQUE INDEX listing_performance ON listing (viewer, list, cell, performance);
            """

    private static let markers = """
        -- The highest event id at the last removal of events. New ids continue from it, even if no event remains.
        CREATE TABLE event_marker (
            only INTEGER PRIMARY KEY CHECK (only = 1), last INTEGER NOT NULL
        );
        """

    /// Marks one row as the leader of each cell on a list. Lists are read by leaders, independent of how often a cell was added.
    private static let placements = """
        ALTER TABLE listing ADD COLUMN until INTEGER NOT NULL DEFAULT 0;    -- the end of the undo window
        ALTER TABLE listing ADD COLUMN leads INTEGER NOT NULL DEFAULT 0;    -- 1 for the oldest row of the cell, which sets its position
        UPDATE listing SET until = coalesce(
            (SELECT expires FROM selection WHERE id = substr(performance, 1, instr(performance, '.') - 1)), 0);
        UPDATE listing SET leads = 1 WHERE mark IN (SELECT min(mark) FROM listing GROUP BY viewer, list, cell);
        DROP INDEX listing_order;
        CREATE INDEX listing_cell ON listing (viewer, list, cell);
        CREATE INDEX listing_place ON listing (viewer, list, mark, cell) WHERE leads = 1;
        CREATE INDEX listing_twin ON listing (until) WHERE leads = 0;
        """

    /// Adds removals from lists. The row of a removal is deleted, with all earlier rows of its cell, once the removal cannot be undone.
    private static let removals = """
        ALTER TABLE listing ADD COLUMN removes INTEGER NOT NULL DEFAULT 0;
        DROP INDEX listing_twin;
        CREATE INDEX listing_twin ON listing (until) WHERE leads = 0 AND removes = 0;
        CREATE INDEX listing_removal ON listing (until) WHERE removes = 1;
        CREATE INDEX listing_removed ON listing (viewer, list, cell) WHERE removes = 1;
        CREATE UNIQUE INDEX listing_leader ON listing (viewer, list, cell) WHERE leads = 1;
        """

    private static let time = """
        -- See RetentionClock.
        CREATE TABLE passed_time (
            only INTEGER PRIMARY KEY CHECK (only = 1), reached INTEGER NOT NULL, clock INTEGER NOT NULL, doubted INTEGER
        );
        """

    private static let campaigns = """
        -- The position of the cell, from the token of its page. NULL in layout: no token.
        ALTER TABLE event ADD COLUMN campaign TEXT;
        ALTER TABLE event ADD COLUMN feed TEXT;
        ALTER TABLE event ADD COLUMN section TEXT;
        ALTER TABLE event ADD COLUMN position INTEGER;  -- the index among the page's cells
        ALTER TABLE event ADD COLUMN layout TEXT;       -- collection, table
        """
        + creation(of: .delivery, .exposure, .reservation)

    private static let clients =
        creation(of: .client) + """
            CREATE INDEX client_digest ON client (digest, capabilities);
            -- Rows of a viewer are found by the viewer, for erasure.
            ALTER TABLE idempotency ADD COLUMN owner TEXT;
            CREATE INDEX idempotency_owner ON idempotency (owner) WHERE owner IS NOT NULL;
            CREATE INDEX selection_viewer ON selection (viewer) WHERE viewer IS NOT NULL;
            """

    private static let reports = """
        -- Columns for ads.
        ALTER TABLE event ADD COLUMN creative TEXT;     -- image, video, …
        ALTER TABLE event ADD COLUMN advertiser TEXT;
        """
        + creation(of: .reportMarker) + """
            INSERT INTO report_marker (tally, marker)
                SELECT column1, max(coalesce((SELECT max(id) FROM event), 0), coalesce((SELECT last FROM event_marker), 0))
                FROM (VALUES ('totals'), ('viewers'), ('trackers'));
            """
        + creation(of: .reportAd, .reportPlace, .reportTotal) + """
            -- Unique viewers of a day, as sketches without names.
            CREATE TABLE report_viewers (
                id INTEGER PRIMARY KEY, grouping TEXT NOT NULL, key TEXT NOT NULL, day INTEGER NOT NULL, sketch BLOB NOT NULL,
                UNIQUE (grouping, key, day)
            );
            CREATE INDEX report_viewers_day ON report_viewers (day);
            """
        + creation(of: .trackerCall)

    private static let parts = """
        -- The remaining budget lease of a process. It is void after the process has ended.
        ALTER TABLE reservation ADD COLUMN allowed INTEGER NOT NULL DEFAULT 0;
        """

    /// Counts cells that leave the list of dismissed cells. A reader that has cached a cell of the list compares the count to detect a removal.
    private static let withdrawals = """
        CREATE TABLE withdrawal (list TEXT NOT NULL PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO withdrawal (list, count) VALUES ('dismissed', 0);
        CREATE TRIGGER listing_withdrawn AFTER DELETE ON listing WHEN old.leads = 1 AND old.list = 'dismissed' BEGIN
            UPDATE withdrawal SET count = count + 1 WHERE list = 'dismissed';
        END;
        CREATE TRIGGER listing_outlived AFTER UPDATE OF leads ON listing WHEN old.leads = 1 AND new.leads = 0 AND old.list = 'dismissed' BEGIN
            UPDATE withdrawal SET count = count + 1 WHERE list = 'dismissed';
        END;
        """

    /// Creates the log of recent rate counters. The tree may contain counters of short windows, so lookups include the tree for the longest
    /// duration of a short window.
    private static func makeRecentAllowances(_ database: Database) throws {
        let key = DatabaseFunction("allowance_key", argumentCount: 1, pure: true) { values in
            guard let text = String.fromDatabaseValue(values[0]) else { return nil }
            // The prefix `d:` (duplicates) or `r:` (rates) gives the purpose of the key.
            let name = String(decoding: text.utf8.dropFirst(2), as: UTF8.self)
            return Data((text.utf8.first == UInt8(ascii: "d") ? RateCounterKey.repetition(name) : .rate(name)).bytes)
        }
        database.add(function: key)
        defer { database.remove(function: key) }
        try database.execute(
            sql: """
                -- Short rate counters, one row per transaction with many entries: key, until, used.
                CREATE TABLE recent_allowance (
                    id INTEGER PRIMARY KEY, until INTEGER NOT NULL,     -- the latest end of the entries
                    spilled INTEGER NOT NULL,   -- 1 if some entries are in the table allowance instead
                    entries BLOB NOT NULL
                );
                \(RateCounterLog.expectation);
                CREATE TABLE allowance_by_key (key BLOB NOT NULL PRIMARY KEY, until INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
                INSERT OR REPLACE INTO allowance_by_key (key, until, used)
                    SELECT allowance_key(key), until, used FROM allowance ORDER BY allowance_key(key);
                DROP TABLE allowance;
                ALTER TABLE allowance_by_key RENAME TO allowance;
                """)
    }

    private static let input = """
        ALTER TABLE event ADD COLUMN input TEXT;        -- the input of a slot: a JSON object
        """
        + creation(of: .rollupChoice)

    /// Saves the highest marker. Run it before events are removed, in the same transaction.
    static let saveSequence = """
        INSERT INTO event_marker (only, last) SELECT 1, id FROM event WHERE id = (SELECT max(id) FROM event)
        ON CONFLICT (only) DO UPDATE SET last = excluded.last
        """

    /// Gives the first event after a removal of all events the next marker. Its id is 1 until then, as in an empty table.
    static let advanceSequence =
        "UPDATE event SET id = (SELECT last + 1 FROM event_marker) WHERE id = 1 AND EXISTS (SELECT 1 FROM event_marker)"

    static func file(_ path: String) -> DatabaseFile {
        DatabaseFile(path: path, content: "a ledger", applicationID: applicationID, version: version, migrator: migrator)
    }
}
