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

    static let all = [
        PostgresMigration(
            "1: items",
            """
            CREATE TABLE item (
                lane bigint NOT NULL,                 -- 0 content, 1 advertisements, then the sections by their number
                position bigint NOT NULL,             -- order in the lane, sparse
                kind text COLLATE "C" NOT NULL,       -- by StoredKind
                id text COLLATE "C" NOT NULL,         -- unique in its kind
                variant text COLLATE "C" NOT NULL,    -- type of the import format
                body text COLLATE "C" NOT NULL,       -- the other fields, one JSON object
                PRIMARY KEY (lane, position)
            );
            CREATE UNIQUE INDEX item_identity ON item (kind, id);
            CREATE INDEX item_form ON item (kind, variant, position) WHERE lane = 1;
            CREATE TABLE section (
                number bigint PRIMARY KEY,            -- the lane of its items, 2 and up
                name text COLLATE "C" NOT NULL UNIQUE
            );
            CREATE TABLE section_kind (
                kind text COLLATE "C" PRIMARY KEY,    -- a kind of the section; other kinds are in the lane of their kind
                section bigint NOT NULL REFERENCES section
            );
            CREATE TABLE source (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text COLLATE "C" NOT NULL UNIQUE
            );
            CREATE TABLE source_item (
                source bigint NOT NULL REFERENCES source (number),
                kind text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                digest bigint NOT NULL,               -- of the item in the source
                adopted boolean NOT NULL,             -- true if the item existed before the source
                PRIMARY KEY (source, kind, id)
            );
            CREATE TABLE takedown (
                kind text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                at bigint NOT NULL,                   -- milliseconds since 1970-01-01 UTC
                reason text,
                PRIMARY KEY (kind, id)
            );
            CREATE TABLE ad_listing (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- order among the ads pinned to one position
                lane bigint NOT NULL,                 -- of the content
                position bigint NOT NULL,             -- of the last content item before it
                kind text COLLATE "C" NOT NULL,
                id text COLLATE "C" NOT NULL,
                session bigint NOT NULL               -- the number of the import
            );
            CREATE INDEX ad_listing_place ON ad_listing (lane, position, number);
            CREATE INDEX ad_listing_ad ON ad_listing (kind, id);
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
            """
            CREATE TABLE campaign_creative (
                kind text COLLATE "C" NOT NULL,       -- of the ad
                id text COLLATE "C" NOT NULL,
                campaign text COLLATE "C" NOT NULL,   -- it may have been removed
                PRIMARY KEY (kind, id, campaign)
            );
            CREATE INDEX campaign_creative_campaign ON campaign_creative (campaign);
            CREATE TRIGGER campaign_creative_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON campaign_creative
                FOR EACH STATEMENT EXECUTE FUNCTION intertwine_items_changed();
            """),
    ]
}
