import GRDB

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
    private static let version: Int32 = 11

    /// The page size of new files in bytes.
    ///
    /// Why: larger pages make imports cheaper (a tenth less work than with 4 KiB) and small reads more expensive.
    static let pageSize = 8_192

    static let identityIndex = "CREATE UNIQUE INDEX item_identity ON item (kind, id)"

    /// The SQL of an insertion, whose values ``SQLStatement/bind(_:in:at:)`` binds.
    static let insertion = "INSERT INTO item (lane, position, kind, id, variant, body, digest) VALUES (?, ?, ?, ?, ?, ?, ?)"

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: items") { try $0.execute(sql: creation(of: .item) + identityIndex) }
        migrator.registerMigration("2: sections") { try $0.execute(sql: creation(of: .section, .sectionKind)) }
        migrator.registerMigration("3: sources") { try $0.execute(sql: creation(of: .source, .sourceItem)) }
        migrator.registerMigration("4: takedowns") { try $0.execute(sql: creation(of: .takedown)) }
        migrator.registerMigration("5: listed advertisements") { database in
            try database.execute(
                sql: creation(of: .adListing) + "CREATE INDEX ad_listing_place ON ad_listing (lane, position)")
        }
        migrator.registerMigration("6: URLs of what is taken down") { try $0.execute(sql: "ALTER TABLE takedown ADD COLUMN urls TEXT") }
        migrator.registerMigration("7: advertisements of campaigns") { try $0.execute(sql: creation(of: .campaignCreative)) }
        migrator.registerMigration("8: identity", migrate: StoreIdentity.migrate)
        migrator.registerMigration("9: digests of items", migrate: addDigests)
        migrator.registerMigration("10: digests of other rows") { database in
            let tables = ["section", "section_kind", "source", "source_item", "takedown", "campaign_creative", "ad_listing"]
            try database.execute(sql: TableCheck.addition(of: tables, in: database))
        }
        migrator.registerMigration("11: digest of the identity") { database in
            try database.execute(sql: TableCheck.addition(of: ["store_identity"], in: database))
        }
        return migrator
    }

    private static func creation(of tables: TableSchema...) -> String { tables.map { $0.creation(.sqlite) }.joined() }

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
