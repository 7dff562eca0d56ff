internal import Glibc
internal import IntertwineItems
internal import IntertwineStorageCore

/// A change of the tables, applied once in a database. It only adds, so that replicas of the previous version continue.
package struct PostgresMigration: Sendable {
    package var name: String
    /// The statements, in which `@schema@` is replaced by the schema of the tables.
    package var script: String

    package init(_ name: String, _ script: String) {
        self.name = name
        self.script = script
    }
}

/// The migrations that a database has had. Each part of it, such as the items, has its own count.
package enum PostgresSchema {
    /// The advisory lock "INTW": the first process to start migrates, and the others wait.
    private static let lock: Int64 = 0x494E_5457

    /// The number of migrations that this version knows, by part.
    private static let known = [
        ItemMigrations.part: ItemMigrations.all.count, PostgresLedgerSchema.part: PostgresLedgerSchema.migrations.count,
        PostgresSigningKeys.part: PostgresSigningKeys.migrations.count,
    ]

    /// Applies the pending migrations of a part. A part without pending migrations is only read.
    ///
    /// - Parameters:
    ///   - migrations: All migrations of the part, in their order.
    ///   - isCopying: True if an interrupted copy is being resumed; no other caller may use its unfinished tables.
    /// - Throws: `StoreError.unusable` if a newer version has migrated any part, if the tables belong to another program, or if a copy into
    ///   them is unfinished; ``PostgresError``.
    package static func bringUpToDate(
        _ connection: PostgresConnection, part: String, migrations: [PostgresMigration], isCopying: Bool = false
    ) throws {
        try checkOwner(connection)
        if try !isCopying && connection.query("SELECT to_regclass('intertwine_copy') IS NOT NULL").flag(0, 0) {
            throw StoreError.unusable("a copy into it is incomplete: run intertwine copy-store again, or empty the database")
        }
        guard try pending(connection, part, migrations) > 0 else { return }
        // The migration of another replica may take long.
        try connection.transaction(isLong: true) {
            try waitForTurn(connection)
            // A session that has a table open must not block the queue behind this statement.
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

    /// Waits for another replica that migrates, without a limit; waits five seconds for the session of another program.
    private static func waitForTurn(_ connection: PostgresConnection) throws {
        let end = ContinuousClock.now + .seconds(5)
        while try !connection.query("SELECT pg_try_advisory_xact_lock($1)", .integer(lock)).flag(0, 0) {
            if ContinuousClock.now > end, let holder = try PostgresHolder.ofAdvisoryLock(lock, connection) {
                throw StoreError.unusable("\(holder) holds the lock for migrations: end that session, and start again")
            }
            usleep(50_000)
        }
    }

    /// Returns true if a database has all migrations that this version knows. It only reads.
    package static func isUpToDate(_ connection: PostgresConnection) throws -> Bool {
        try [
            (ItemMigrations.part, ItemMigrations.all), (PostgresLedgerSchema.part, PostgresLedgerSchema.migrations),
            (PostgresSigningKeys.part, PostgresSigningKeys.migrations),
        ].allSatisfy { try pending(connection, $0, $1) == 0 }
    }

    /// Returns the number of migrations that the database lacks.
    private static func pending(_ connection: PostgresConnection, _ part: String, _ migrations: [PostgresMigration]) throws -> Int {
        let isThere = try connection.query("SELECT to_regclass('intertwine_migration') IS NOT NULL").flag(0, 0)
        guard isThere else { return migrations.count }
        let rows = try connection.query("SELECT part, max(number) FROM intertwine_migration GROUP BY part")
        let made = Dictionary(uniqueKeysWithValues: (0..<rows.count).map { (rows.text($0, 0), Int(rows.integer($0, 1))) })
        for (name, count) in made.sorted(by: { $0.key < $1.key }) {
            guard let known = name == part ? migrations.count : known[name], count > known else { continue }
            throw StoreError.unusable(
                "was written by a newer version of this program (\(name) \(count); this version supports \(known)); update it")
        }
        return migrations.count - made[part, default: 0]
    }

    /// Daily event partitions are created and dropped, which needs the tables' owner. Another role would fail at midnight.
    private static func checkOwner(_ connection: PostgresConnection) throws {
        let strange = try connection.query(
            """
            SELECT quote_ident(pg_get_userbyid(relowner)), quote_ident(current_user) FROM pg_class
            WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
            AND relname IN ('intertwine_migration', 'item', 'event', 'event_number', 'signing_key')
            AND NOT pg_has_role(relowner, 'USAGE') AND to_regclass('intertwine_migration') IS NOT NULL LIMIT 1
            """)
        guard !strange.isEmpty else { return }
        let (owner, user) = (strange.text(0, 0), strange.text(0, 1))
        throw StoreError.unusable("the tables belong to \(owner): connect as that user, or GRANT \(owner) TO \(user)")
    }
}
