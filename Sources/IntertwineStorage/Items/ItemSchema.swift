import GRDB
import IntertwineFeed

/// The tables of the items' file.
///
/// `item` is one tree ordered by lane and position: a page is a range of it, at the same cost anywhere. (A rowid table with an index for
/// each lane was as fast to fill, and read every page through two trees.) Each section is another value of its first column.
/// Forms are indexed among the advertisements alone: for all items it made imports a quarter slower, and nothing pages through one form
/// of content.
package enum ItemSchema {
    /// "INTW".
    private static let applicationID: Int32 = 0x494E_5457
    private static let version: Int32 = 9

    /// How far apart appended items stand: 20 times one can be put between two neighbours, always at the same side, before they are full.
    package static let step: Int64 = 1 << 20

    /// Bytes; of files that are made anew. Larger pages make imports cheaper (a tenth less work than with 4 KiB) and small reads dearer.
    static let pageSize = 8_192

    static let identityIndex = "CREATE UNIQUE INDEX item_identity ON item (kind, id)"

    /// With what ``SQLStatement/bind(_:in:at:)`` gives it.
    static let insertion = "INSERT INTO item (lane, position, kind, id, variant, body, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"

    /// Where the next item behind another goes.
    static func position(after position: Int64) throws(StoreError) -> Int64 {
        let (next, isFull) = position.addingReportingOverflow(step)
        guard !isFull else { throw .unavailable("no position is left behind \(position)") }
        return next
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: items") { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (
                        lane INTEGER NOT NULL,     -- 0 content, 1 advertisements, then the sections by their number
                        position INTEGER NOT NULL, -- order in the lane, sparse
                        kind TEXT NOT NULL,        -- klass of the import format
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
                        kind TEXT PRIMARY KEY,      -- whose items stand in the section; the others stand in the lane of their kind
                        section INTEGER NOT NULL REFERENCES section
                    ) WITHOUT ROWID;
                    """)
        }
        SourceSchema.register(in: &migrator)
        TakedownTable.register(in: &migrator)
        PinnedAdSchema.register(in: &migrator)
        TakedownTable.registerURLs(in: &migrator)
        MembershipTable.register(in: &migrator)
        migrator.registerMigration("8: identity", migrate: StoreIdentity.migrate)
        migrator.registerMigration("9: digests of items", migrate: addDigests)
        return migrator
    }

    /// Who changes an item without its digest, such as a person by hand, removes the digest.
    private static func addDigests(_ database: Database) throws {
        guard try !database.columns(in: "item").contains(where: { $0.name == "digest" }) else { return }
        try database.execute(
            sql: """
                -- Of kind, id, variant and body, see RowDigest. The length tells the query planner that rows are long, so that it goes on
                -- reading forms through their index.
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

/// Which remote source brought which item. It tells what is gone when the source does not list it any more, and that what came from
/// elsewhere is none of the source's business.
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
                        digest INTEGER NOT NULL,  -- of the item as the source brought it
                        adopted INTEGER NOT NULL, -- 1: was there before the source brought it
                        PRIMARY KEY (source, kind, id)
                    ) WITHOUT ROWID;
                    """)
        }
    }
}

/// Where advertisements are listed among content: ``PinnedAdTable``.
private enum PinnedAdSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("5: listed advertisements") { database in
            try database.execute(
                sql: """
                    CREATE TABLE ad_listing (
                        number INTEGER PRIMARY KEY, -- order among those that are listed at one place
                        lane INTEGER NOT NULL,      -- of the content
                        position INTEGER NOT NULL,  -- of the content item that was listed last before it
                        kind TEXT NOT NULL,
                        id TEXT NOT NULL,
                        session INTEGER NOT NULL    -- a number of the import
                    );
                    CREATE INDEX ad_listing_place ON ad_listing (lane, position);
                    CREATE INDEX ad_listing_ad ON ad_listing (kind, id);
                    """)
        }
    }
}
