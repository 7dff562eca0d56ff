import GRDB

/// Which remote source brought which item. It tells what is gone when the source does not list it any more, and that what came from
/// elsewhere is none of the source's business.
enum SourceSchema {
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
