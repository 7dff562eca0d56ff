import GRDB
import IntertwineFeed

/// The schema of the items' file.
///
/// The table `item` is one tree ordered by lane (the stream) and position: a page is a range of it, at equal cost at any position.
/// Each section is another value of the first column.
///
/// Why: a rowid table with an index for each lane was as fast to fill, but read every page through two trees.
/// Forms are indexed among the ads alone. An index for all items made imports a quarter slower, and no request pages through one form of
/// content.
enum ItemSchema {
    /// The application id, "INTW" in ASCII.
    private static let applicationID: Int32 = 0x494E_5457
    private static let version: Int32 = 9

    /// The page size of new files in bytes.
    ///
    /// Why: larger pages make imports cheaper (a tenth less work than with 4 KiB) and small reads more expensive.
    static let pageSize = 8_192

    static let identityIndex = "CREATE UNIQUE INDEX item_identity ON item (kind, id)"

    /// The SQL of an insertion, whose values ``SQLStatement/bind(_:in:at:)`` binds.
    static let insertion = "INSERT INTO item (lane, position, kind, id, variant, body, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: items") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (
                        lane INTEGER NOT NULL,     -- 0 content, 1 advertisements, then the sections by their number
                        position INTEGER NOT NULL, -- order in the lane, sparse
                        kind TEXT NOT NULL,        -- by StoredKind
                        id TEXT NOT NULL,          -- unique in its kind
                        variant TEXT NOT NULL,     -- type of the import format
                        body TEXT NOT NULL,        -- the other fields, one JSON object
                        PRIMARY KEY (lane, position)
                    ) WITHOUT ROWID;
                    \(identityIndex);
                    CREATE INDEX item_form ON item (kind, variant, position) WHERE lane = 1;
                    """)
        }
        migrator.registerMigration("2: sections") { database in
            try database.execute(
                sql: """
                    CREATE TABLE section (
                        number INTEGER PRIMARY KEY, -- the lane of its items, 2 and up
                        name TEXT NOT NULL UNIQUE
                    );
                    CREATE TABLE section_kind (
                        kind TEXT PRIMARY KEY,      -- a kind of the section; other kinds are in the lane of their kind
                        section INTEGER NOT NULL REFERENCES section
                    ) WITHOUT ROWID;
                    """)
        }
        SourceSchema.register(in: &migrator)
        migrator.registerMigration("4: takedowns") { try $0.execute(sql: takedowns) }
        PinnedAdSchema.register(in: &migrator)
        // A JSON array of the URLs in the item's fields, which include its images. NULL if the item was not stored.
        migrator.registerMigration("6: URLs of what is taken down") { try $0.execute(sql: "ALTER TABLE takedown ADD COLUMN urls TEXT") }
        migrator.registerMigration("7: advertisements of campaigns") { try $0.execute(sql: memberships) }
        migrator.registerMigration("8: identity", migrate: StoreIdentity.migrate)
        migrator.registerMigration("9: digests of items", migrate: addDigests)
        return migrator
    }

    private static let takedowns = """
        CREATE TABLE takedown (
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            at INTEGER NOT NULL, -- milliseconds since 1970-01-01 UTC
            reason TEXT,
            PRIMARY KEY (kind, id)
        ) WITHOUT ROWID;
        """

    private static let memberships = """
        CREATE TABLE campaign_creative (
            kind TEXT NOT NULL,     -- of the ad
            id TEXT NOT NULL,
            campaign TEXT NOT NULL, -- it may have been removed
            PRIMARY KEY (kind, id, campaign)
        ) WITHOUT ROWID;
        CREATE INDEX campaign_creative_campaign ON campaign_creative (campaign);
        """

    /// Adds digests, and a trigger that removes the digest of an item that is changed without a new one, for example by hand.
    private static func addDigests(_ database: Database) throws {
        guard try !database.columns(in: "item").contains(where: { $0.name == "digest" }) else { return }
        try database.execute(
            sql: """
                -- A digest of kind, id, variant and body, see RowDigest. The length makes the query planner expect long rows, so that it
                -- reads forms through their index.
                ALTER TABLE item ADD COLUMN digest BLOB(400);
                CREATE TRIGGER item_changed AFTER UPDATE OF kind, id, variant, body ON item
                WHEN new.digest IS old.digest AND (new.kind, new.id, new.variant, new.body) IS NOT (old.kind, old.id, old.variant, old.body)
                BEGIN
                    UPDATE item SET digest = NULL WHERE lane = new.lane AND position = new.position;
                END;
                """)
    }

    static func file(_ path: String) -> DatabaseFile {
        DatabaseFile(path: path, content: "a store of items", applicationID: applicationID, version: version, migrator: migrator)
    }
}

/// The schema of remote sources: the source that stored each item.
///
/// It shows which items a source no longer lists, and that items of other origin are not changed by the source.
private enum SourceSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("3: sources") { database in
            try database.execute(
                sql: """
                    CREATE TABLE source (
                        number INTEGER PRIMARY KEY,
                        name TEXT NOT NULL UNIQUE
                    );
                    CREATE TABLE source_item (
                        source INTEGER NOT NULL REFERENCES source (number),
                        kind TEXT NOT NULL,
                        id TEXT NOT NULL,
                        digest INTEGER NOT NULL,  -- of the item in the source
                        adopted INTEGER NOT NULL, -- 1 if the item existed before the source
                        PRIMARY KEY (source, kind, id)
                    ) WITHOUT ROWID;
                    """)
        }
    }
}

/// The schema of the positions of ads among content, see ``PinnedAdTable``.
private enum PinnedAdSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("5: listed advertisements") { database in
            try database.execute(
                sql: """
                    CREATE TABLE ad_listing (
                        number INTEGER PRIMARY KEY, -- order among the ads pinned to one position
                        lane INTEGER NOT NULL,      -- of the content
                        position INTEGER NOT NULL,  -- of the last content item before it
                        kind TEXT NOT NULL,
                        id TEXT NOT NULL,
                        session INTEGER NOT NULL    -- the number of the import
                    );
                    CREATE INDEX ad_listing_place ON ad_listing (lane, position);
                    CREATE INDEX ad_listing_ad ON ad_listing (kind, id);
                    """)
        }
    }
}
