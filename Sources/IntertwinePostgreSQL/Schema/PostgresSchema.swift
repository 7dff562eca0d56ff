internal import IntertwineFeed

/// A change of the tables, made once in a database. It only adds, so that replicas of the version before go on.
package struct PostgresMigration: Sendable {
    package var name: String
    /// Statements, in which `@schema@` stands for the schema that the tables are in.
    package var script: String

    package init(_ name: String, _ script: String) {
        self.name = name
        self.script = script
    }
}

/// Which of our migrations a database has had. Each part of it, such as the items, counts its own.
package enum PostgresSchema {
    /// "INTW", as an advisory lock: whoever starts first migrates, and the others wait for it.
    private static let lock: Int64 = 0x494E_5457

    /// Brings a part up to date. One that is, is only read.
    ///
    /// - Parameter migrations: all there have ever been, in their order.
    /// - Throws: `StoreError.unusable` where a newer version has been there; ``PostgresError``.
    package static func bringUpToDate(_ connection: PostgresConnection, part: String, migrations: [PostgresMigration]) throws {
        guard try pending(connection, part, migrations) > 0 else { return }
        // Another replica may take long.
        try connection.transaction(isLong: true) {
            try connection.query("SELECT pg_advisory_xact_lock($1)", .integer(lock))
            // Who has a table open must not hold up everybody behind us.
            try connection.execute(
                """
                SET LOCAL lock_timeout = '5s';
                CREATE TABLE IF NOT EXISTS intertwine_migration (
                    part text NOT NULL,
                    number bigint NOT NULL,
                    name text NOT NULL,
                    made timestamptz NOT NULL DEFAULT now(),
                    PRIMARY KEY (part, number)
                )
                """)
            let missing = try pending(connection, part, migrations)
            let schema = try connection.query("SELECT quote_ident(current_schema())").text(0, 0)
            for (index, migration) in migrations.enumerated().suffix(missing) {
                try connection.execute(migration.script.replacing("@schema@", with: schema))
                try connection.query(
                    "INSERT INTO intertwine_migration (part, number, name) VALUES ($1, $2, $3)", .text(part), .integer(Int64(index + 1)),
                    .text(migration.name))
            }
        }
    }

    /// How many of the migrations the database lacks.
    private static func pending(_ connection: PostgresConnection, _ part: String, _ migrations: [PostgresMigration]) throws -> Int {
        let isThere = try connection.query("SELECT to_regclass('intertwine_migration') IS NOT NULL").flag(0, 0)
        guard isThere else { return migrations.count }
        let rows = try connection.query("SELECT coalesce(max(number), 0) FROM intertwine_migration WHERE part = $1", .text(part))
        let found = Int(rows.integer(0, 0))
        guard found <= migrations.count else {
            throw StoreError.unusable(
                "was written by a newer version of this program (\(part) \(found), this one knows \(migrations.count)); update it"
            )
        }
        return migrations.count - found
    }
}
