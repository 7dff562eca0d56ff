internal import IntertwineStorageCore

/// The tables of the ledger in a PostgreSQL database that any number of replicas write to.
///
/// Times are milliseconds since 1970-01-01 UTC, days are days since then. Texts are ordered and compared by their bytes.
///
/// Writers take locks in one order, which prevents deadlocks: the advisory locks by number; then existing rows, table by table and by key;
/// then, with the writes, new keys. While new keys are written, the transaction waits for nothing else.
enum PostgresLedgerSchema {
    static let part = "ledger"

    static let migrations = [
        PostgresMigration("1: ledger", events + viewers + campaigns + reports + replicas),
        // The column holds the number of slots that a process may still serve. It has no effect once the process has ended.
        PostgresMigration("2: parts of goals", "ALTER TABLE reservation ADD COLUMN allowed bigint NOT NULL DEFAULT 0"),
        PostgresMigration("3: places that others saw", remoteImpressions),
        PostgresMigration("4: what viewers were given", claims),
        // Advertisements that campaigns of a file named, and that were there then.
        PostgresMigration(
            "5: advertisements of declared campaigns, pages of viewers",
            """
            CREATE TABLE known_creative (kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, PRIMARY KEY (kind, id));
            -- The ads of pages with reservations, for other replicas that serve the same page.
            CREATE TABLE given_page (
                viewer text COLLATE "C" NOT NULL, page bigint NOT NULL, given bytea NOT NULL, until bigint NOT NULL,
                PRIMARY KEY (viewer, page)
            );
            CREATE INDEX given_page_until ON given_page (until);
            """),
        PostgresMigration("6: what was taken off lists of dismissed cells is counted", withdrawals),
        PostgresMigration("7: short allowances in a row for each group", log),
        PostgresMigration("8: input of slots", input),
    ]

    /// The row of `withdrawal` that counts a viewer's. Those who share one may have a page read more than it has to.
    static func removalStripe(of viewer: String) -> String { "(hashtextextended(\(viewer), 0) & 65535)" }

    /// The first of the two numbers of the ledger's advisory locks: "INTL".
    static let lockClass: Int64 = 0x494E_544C

    /// The second one.
    enum Lock {
        /// The lock that sessions share while they append events. An exporter takes it alone, so that no event below the last number is
        /// still uncommitted.
        static let appending: Int64 = 0
        static let partitions: Int64 = 2
        static let clients: Int64 = 3
        static let slots: Int64 = 4
        static let reservations: Int64 = 5
        /// The lock that a decision by many short windows takes alone. Decisions that lock a few stripes, from ``allowance`` on, share it.
        static let allowances: Int64 = 6
        /// The first lock for changes of viewers' lists, which one replica at a time makes. Viewers share these locks, as a server has few.
        private static let viewers: Int64 = 256
        private static let viewerCount: UInt64 = 256
        /// The first of ``AdvisoryLockStripes``.
        static let allowance: Int64 = 512

        static func of(_ viewer: String) -> Int64 {
            // FNV-1a: alike in every process.
            let hash = viewer.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return viewers + Int64(hash % viewerCount)
        }
    }

    private static let events = """
        CREATE SEQUENCE event_number;
        CREATE TABLE event (
            id bigint NOT NULL DEFAULT nextval('event_number'),     -- the marker of exports
            at bigint NOT NULL,
            kind text COLLATE "C" NOT NULL,
            cell text COLLATE "C" NOT NULL,
            viewer text COLLATE "C",
            address text,                   -- truncated or hashed
            user_agent text,
            verdict text COLLATE "C" NOT NULL,
            campaign text, feed text, section text, position bigint, layout text,
            creative text, advertiser text  -- of advertisements
        ) PARTITION BY RANGE (at);          -- by days: see EventDays
        CREATE INDEX event_order ON event (id);
        -- Counts of one day. Each replica adds to the rows of its own slot; readers sum them.
        CREATE TABLE rollup_cell (
            day bigint NOT NULL, verdict text COLLATE "C" NOT NULL, cell text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
            slot bigint NOT NULL, count bigint NOT NULL,
            PRIMARY KEY (day, verdict, cell, kind, slot)
        ) WITH (fillfactor = 70);
        CREATE TABLE rollup_day (
            day bigint NOT NULL, kind text COLLATE "C" NOT NULL, verdict text COLLATE "C" NOT NULL, slot bigint NOT NULL,
            count bigint NOT NULL,
            PRIMARY KEY (day, kind, verdict, slot)
        ) WITH (fillfactor = 50);
        -- Rate counters: the number of counted events per key until a time. A limit of one detects duplicates. Keys are digests.
        CREATE TABLE allowance (
            key bytea PRIMARY KEY, until bigint NOT NULL, used bigint NOT NULL
        ) WITH (fillfactor = 80);

        """

    private static let viewers = """
        CREATE TABLE idempotency (
            scope text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, fingerprint text COLLATE "C" NOT NULL, answer bytea NOT NULL,
            expires bigint NOT NULL, owner text COLLATE "C",
            PRIMARY KEY (scope, key)
        );
        CREATE INDEX idempotency_expires ON idempotency (expires);
        CREATE INDEX idempotency_owner ON idempotency (owner) WHERE owner IS NOT NULL;
        CREATE TABLE selection (
            id text COLLATE "C" PRIMARY KEY, cell text COLLATE "C" NOT NULL, viewer text COLLATE "C", expires bigint NOT NULL,
            undone_at bigint
        );
        CREATE INDEX selection_expires ON selection (expires);
        CREATE INDEX selection_viewer ON selection (viewer) WHERE viewer IS NOT NULL;
        CREATE TABLE selection_step (
            selection text COLLATE "C" NOT NULL REFERENCES selection (id) ON DELETE CASCADE,
            number bigint NOT NULL, command text NOT NULL, undo bytea,
            PRIMARY KEY (selection, number)
        );
        -- Entries of viewers' lists, one row per performance. A cell is on the list if it has a row after its last removal.
        CREATE TABLE listing (
            mark bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
            viewer text COLLATE "C" NOT NULL, list text COLLATE "C" NOT NULL, cell text COLLATE "C" NOT NULL,
            performance text COLLATE "C" NOT NULL, at bigint NOT NULL,
            until bigint NOT NULL,          -- the end of the undo window
            leads boolean NOT NULL,         -- true for the oldest row of the cell, which sets its position
            removes boolean NOT NULL
        );
        CREATE UNIQUE INDEX listing_performance ON listing (viewer, list, cell, performance);
        CREATE UNIQUE INDEX listing_leader ON listing (viewer, list, cell) WHERE leads;
        CREATE INDEX listing_cell ON listing (viewer, list, cell, mark);
        CREATE INDEX listing_place ON listing (viewer, list, mark) WHERE leads;
        CREATE INDEX listing_twin ON listing (until) WHERE NOT leads AND NOT removes;
        CREATE INDEX listing_removal ON listing (until) WHERE removes;
        CREATE TABLE client (
            name text COLLATE "C" NOT NULL, digest text COLLATE "C" NOT NULL, capabilities text NOT NULL, at bigint NOT NULL,
            PRIMARY KEY (name, digest)
        );
        CREATE INDEX client_digest ON client (digest);

        """

    private static let campaigns = """
        -- Counted deliveries of campaigns, by quarters of an hour since 1970-01-01 UTC; -1 for the total.
        CREATE TABLE delivery (
            campaign text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, span bigint NOT NULL, slot bigint NOT NULL,
            count bigint NOT NULL,
            PRIMARY KEY (campaign, kind, span, slot)
        ) WITH (fillfactor = 70);
        -- Impressions of viewers, for campaigns with frequency caps.
        CREATE TABLE exposure (
            viewer text COLLATE "C" NOT NULL, campaign text COLLATE "C" NOT NULL, at bigint NOT NULL, count bigint NOT NULL,
            until bigint NOT NULL,
            PRIMARY KEY (viewer, campaign, at)
        );
        CREATE INDEX exposure_until ON exposure (until);
        -- Reservations of a process for campaigns, without an impression so far. Each process writes its own rows.
        CREATE TABLE reservation (
            process text COLLATE "C" NOT NULL, campaign text COLLATE "C" NOT NULL, count bigint NOT NULL, until bigint NOT NULL,
            PRIMARY KEY (process, campaign)
        );

        """

    private static let reports = """
        -- The last event that totals, viewers and trackers include.
        CREATE TABLE report_marker (tally text COLLATE "C" PRIMARY KEY, marker bigint NOT NULL);
        INSERT INTO report_marker (tally, marker) VALUES ('totals', 0), ('viewers', 0), ('trackers', 0);
        CREATE TABLE report_ad (
            id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, cell text COLLATE "C" NOT NULL, campaign text COLLATE "C" NOT NULL,
            creative text COLLATE "C" NOT NULL, advertiser text COLLATE "C" NOT NULL,
            UNIQUE (cell, campaign, creative, advertiser)
        );
        CREATE TABLE report_place (
            id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, feed text COLLATE "C" NOT NULL, section text COLLATE "C" NOT NULL,
            position bigint NOT NULL,
            UNIQUE (feed, section, position)
        );
        -- Totals of counted events, by the combinations of ReportTotals.
        CREATE TABLE report_total (
            combination bigint NOT NULL,
            time bigint NOT NULL,           -- days or hours since 1970-01-01 UTC
            ad bigint NOT NULL, place bigint NOT NULL, kind text COLLATE "C" NOT NULL, count bigint NOT NULL,
            PRIMARY KEY (combination, time, ad, place, kind)
        );
        -- Unique viewers of a day, as sketches without names.
        CREATE TABLE report_viewers (
            grouping text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, day bigint NOT NULL, sketch bytea NOT NULL,
            PRIMARY KEY (grouping, key, day)
        );
        CREATE INDEX report_viewers_day ON report_viewers (day);
        -- Pending and abandoned tracker calls.
        CREATE TABLE tracker_call (
            id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, event bigint NOT NULL, campaign text NOT NULL, kind text NOT NULL,
            url text COLLATE "C" NOT NULL,
            at bigint NOT NULL,             -- the time of the event
            due bigint NOT NULL,            -- the time of the next attempt; a replica that leases the call moves it
            attempts bigint NOT NULL DEFAULT 0, failure text, given_up bigint,
            UNIQUE (event, url)
        );
        CREATE INDEX tracker_call_due ON tracker_call (due) WHERE given_up IS NULL;
        CREATE INDEX tracker_call_given_up ON tracker_call (given_up) WHERE given_up IS NOT NULL;

        """

    private static let remoteImpressions = """
        -- Impressions that another process than the reserving one received, until that process reads them.
        CREATE TABLE seen_place (
            giver bigint NOT NULL, slot bigint NOT NULL, address bigint NOT NULL, campaign text COLLATE "C" NOT NULL, count bigint NOT NULL,
            until bigint NOT NULL,
            PRIMARY KEY (giver, slot, address, campaign)
        );
        """

    private static let claims = """
        -- Served ads of a process per viewer, for campaigns with frequency caps.
        CREATE TABLE claim (
            viewer text COLLATE "C" NOT NULL, process text COLLATE "C" NOT NULL, campaign text COLLATE "C" NOT NULL, at bigint NOT NULL,
            count bigint NOT NULL, until bigint NOT NULL,
            PRIMARY KEY (viewer, process, campaign, at)
        );
        CREATE INDEX claim_until ON claim (until);
        """

    /// The table `withdrawal` and its triggers, which count removals from lists of dismissed cells.
    ///
    /// Why: the triggers run once per statement, as a viewer may have 100,000 rows. They write in the order of `place`, which prevents deadlocks.
    private static let withdrawals = """
        CREATE TABLE withdrawal (place bigint PRIMARY KEY, count bigint NOT NULL) WITH (fillfactor = 50);
        CREATE FUNCTION @schema@.intertwine_cells_withdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO @schema@.withdrawal AS kept (place, count)
            SELECT DISTINCT \(removalStripe(of: "viewer")), 1 FROM gone WHERE leads AND list = 'dismissed' ORDER BY 1
            ON CONFLICT (place) DO UPDATE SET count = kept.count + 1;
            RETURN NULL;
        END $$;
        CREATE TRIGGER listing_withdrawn AFTER DELETE ON listing
            REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION @schema@.intertwine_cells_withdrawn();
        CREATE TRIGGER listing_outlived AFTER UPDATE ON listing
            REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION @schema@.intertwine_cells_withdrawn();
        """

    /// Rows of groups are larger than what PostgreSQL would try to compress, and digests cannot be.
    private static let log = """
        ALTER TABLE ledger_writer ADD COLUMN logs boolean NOT NULL DEFAULT false;   -- older versions use only `allowance`
        -- Short rate counters of a writer's group: see SharedRateCounters.
        CREATE TABLE recent_allowance (
            writer bigint NOT NULL, number bigint NOT NULL,
            id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,        -- in commit order for rows with the same key
            until bigint NOT NULL,
            spilled boolean NOT NULL,       -- true if some entries are in `allowance`
            entries bytea NOT NULL,
            PRIMARY KEY (writer, number)
        ) WITH (toast_tuple_target = 8160);
        ALTER TABLE recent_allowance ALTER COLUMN entries SET STORAGE EXTERNAL;
        CREATE INDEX recent_allowance_until ON recent_allowance (until);
        """

    private static let input = """
        ALTER TABLE event ADD COLUMN input text;        -- the input of a slot: a JSON object
        -- Totals of counted events, by choice fields of input. Each replica adds to the rows of its own slot.
        CREATE TABLE rollup_choice (
            day bigint NOT NULL, field text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
            slot bigint NOT NULL, count bigint NOT NULL,
            PRIMARY KEY (day, field, value, kind, slot)
        ) WITH (fillfactor = 70);
        """

    private static let replicas = """
        -- Writers. `last` is the writer's last committed group. After a lost response, it shows whether the group was committed.
        CREATE TABLE ledger_writer (
            process bigint PRIMARY KEY, slot bigint NOT NULL, last bigint NOT NULL, seen timestamptz NOT NULL DEFAULT clock_timestamp()
        ) WITH (fillfactor = 50);
        -- See RetentionClock.
        CREATE TABLE passed_time (
            one bigint PRIMARY KEY CHECK (one = 1), reached bigint NOT NULL, clock bigint NOT NULL, doubted bigint
        );
        """
}
