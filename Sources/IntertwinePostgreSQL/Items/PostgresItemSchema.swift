internal import IntertwineStorageCore

enum PostgresItemSchema {
    static let channel = "intertwine_items"
    static let writers: Int64 = 0x494E_5457_0001

    private static func creation(of tables: TableSchema...) -> String { tables.map { $0.creation(.postgres) }.joined() }

    static let part = PostgresPart(
        "items",
        creation(of: .item, .itemRevision, .section, .sectionKind, .source, .sourceItem, .takedown, .adListing)
            + "CREATE UNIQUE INDEX item_identity ON item (kind, id);\n" + SectionKey.functions + notifications,
        migrations: TableSchema.itemMigrations(.postgres))

    /// It is created when an operator first lists items.
    static let index = PostgresPart(
        "item-index", ItemIndex<PostgresSnapshot>.creation,
        migrations: [ItemIndex<PostgresSnapshot>.renewal, ItemIndex<PostgresSnapshot>.renewal])

    private static let notifications =
        """
        CREATE FUNCTION intertwine_items_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_notify('\(channel)', '');
            RETURN NULL;
        END $$;

        """
        + ["item", "ad_listing", "section", "section_kind", "takedown"].map { table in
            """
            CREATE TRIGGER \(table)_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(table)
                FOR EACH STATEMENT EXECUTE FUNCTION intertwine_items_changed();

            """
        }.joined()
}
