internal import IntertwineStorageCore

/// The tables of the items, as SQLite's store has them: see `ItemSchema` there.
///
/// Names are in the schema that the user's `search_path` begins with. Texts are compared by their bytes.
enum ItemMigrations {
    /// The name of these migrations in the column `part`.
    static let part = "items"
    /// The notification channel for every transaction that changes items, including those of `psql`.
    static let channel = "intertwine_items"
    /// As an advisory lock: writers of items come one after another, on whichever replica they are, as their positions follow one another.
    static let writers: Int64 = 0x494E_5457_0001

    private static func creation(of tables: TableSchema...) -> String { tables.map { $0.creation(.postgres) }.joined() }

    static let all = [
        PostgresMigration(
            "1: items",
            creation(of: .item, .section, .sectionKind, .source, .sourceItem, .takedown, .adListing)
                + """
                CREATE UNIQUE INDEX item_identity ON item (kind, id);
                CREATE INDEX ad_listing_place ON ad_listing (lane, position, number);
                """),
        PostgresMigration("2: what orders sections", SectionKey.functions),
        PostgresMigration(
            "3: notifications",
            """
            CREATE FUNCTION intertwine_items_changed() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_notify('\(channel)', '');
                RETURN NULL;
            END $$;
            """
                + ["item", "ad_listing", "section", "section_kind"].map { table in
                    """
                    CREATE TRIGGER \(table)_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(table)
                        FOR EACH STATEMENT EXECUTE FUNCTION intertwine_items_changed();

                    """
                }.joined()),
        PostgresMigration(
            "4: URLs of what is taken down",
            """
            ALTER TABLE takedown ADD COLUMN urls text; -- a JSON list; NULL if the item did not exist
            CREATE TRIGGER takedown_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON takedown
                FOR EACH STATEMENT EXECUTE FUNCTION intertwine_items_changed();
            """),
        PostgresMigration(
            "5: advertisements of campaigns",
            creation(of: .campaignCreative) + """
                CREATE TRIGGER campaign_creative_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON campaign_creative
                    FOR EACH STATEMENT EXECUTE FUNCTION intertwine_items_changed();
                """),
    ]
}
