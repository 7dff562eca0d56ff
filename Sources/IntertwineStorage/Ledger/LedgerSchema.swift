import IntertwineFeed
internal import IntertwineStorageCore

/// The ledger and the items have separate files, so a long import never blocks a click, and a click never makes feed pages stale. The table
/// `event` is append-only and has no index but its own order, so that a commit costs the same at any size.
enum LedgerSchema {
    private static let applicationID: Int32 = 0x494E_544C

    private static let creation =
        [
            TableSchema.event, .rateCounter, .rollupCell, .rollupDay, .rollupChoice, .idempotency, .selection, .selectionStep, .listing,
            .client, .delivery, .exposure, .reportMarker, .reportAd, .reportPlace, .reportTotal, .trackerCall,
        ]
        .map { $0.creation(.sqlite) }.joined() + others + ListCounts.schema(.sqlite) + StoreIdentity.creation

    /// Indices and tables that PostgreSQL has in another form, and the first rows.
    private static let others = """
        -- Rows of a viewer are found by the viewer, for erasure.
        CREATE INDEX idempotency_owner ON idempotency (owner) WHERE owner IS NOT NULL;
        CREATE INDEX selection_viewer ON selection (viewer) WHERE viewer IS NOT NULL;
        CREATE INDEX client_digest ON client (digest, capabilities);

        -- A list has one row per performance, and a cell is on the list if it has a row. Lists are read by leaders, the oldest row of each
        -- cell, independent of how often a cell was added. The row of a removal is deleted, with all earlier rows of its cell, once the
        -- removal cannot be undone.
        CREATE UNIQUE INDEX listing_performance ON listing (viewer, list, cell, performance);
        CREATE UNIQUE INDEX listing_leader ON listing (viewer, list, cell) WHERE leads = 1;
        CREATE INDEX listing_cell ON listing (viewer, list, cell);
        CREATE INDEX listing_place ON listing (viewer, list, mark, cell) WHERE leads = 1;
        CREATE INDEX listing_twin ON listing (until) WHERE leads = 0 AND removes = 0;
        CREATE INDEX listing_removal ON listing (until) WHERE removes = 1;
        CREATE INDEX listing_removed ON listing (viewer, list, cell) WHERE removes = 1;

        INSERT INTO report_marker (tally, marker) VALUES ('totals', 0), ('trackers', 0);
        -- Short rate counters, one row per transaction with many entries: key, until, used.
        CREATE TABLE recent_allowance (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            until INTEGER NOT NULL,     -- the latest end of the entries
            spilled INTEGER NOT NULL,   -- 1 if some entries are in the table allowance instead
            entries BLOB NOT NULL
        );
        -- See RetentionClock.
        CREATE TABLE passed_time (
            only INTEGER PRIMARY KEY CHECK (only = 1), reached INTEGER NOT NULL, clock INTEGER NOT NULL, doubted INTEGER
        );

        """

    static func file(_ path: String) -> DatabaseFile {
        DatabaseFile(
            path: path, content: "a ledger", applicationID: applicationID, creation: creation,
            migrations: [ListCounts.schema(.sqlite)])
    }
}
