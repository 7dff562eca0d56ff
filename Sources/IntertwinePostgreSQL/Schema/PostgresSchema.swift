internal import Glibc
internal import IntertwineFeed
internal import IntertwineStorageCore

struct PostgresPart: Sendable {
    var name: String
    var script: String
    /// The scripts from each version to the next, beginning with version 1.
    var migrations: [String]

    init(_ name: String, _ script: String, migrations: [String] = []) {
        (self.name, self.script, self.migrations) = (name, script, migrations)
    }

    var version: Int64 { 1 + Int64(migrations.count) }
}

enum PostgresSchema {
    private static let lock: Int64 = 0x494E_5457

    static func create(_ part: PostgresPart, _ connection: PostgresConnection) throws {
        try checkOwner(connection)
        guard try foundVersion(of: part, connection) < part.version else { return }
        try connection.transaction(isLong: true) {
            try waitForTurn(connection)
            // A session that has a table open must not block the queue behind this statement.
            try connection.execute(
                """
                SET LOCAL lock_timeout = '5s';
                CREATE TABLE IF NOT EXISTS intertwine_schema (
                    part text PRIMARY KEY, version bigint NOT NULL, made timestamptz NOT NULL DEFAULT now()
                )
                """)
            let found = try foundVersion(of: part, connection)
            guard found < part.version else { return }
            let script = found == 0 ? part.script : part.migrations.dropFirst(Int(found) - 1).joined(separator: ";\n")
            let schema = try connection.query("SELECT quote_ident(current_schema())").text(0, 0)
            try connection.execute(script.replacing("@schema@", with: schema))
            try connection.query(
                "INSERT INTO intertwine_schema (part, version) VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = excluded.version",
                .text(part.name), .integer(part.version))
        }
    }

    private static func waitForTurn(_ connection: PostgresConnection) throws {
        let end = ContinuousClock.now + .seconds(5)
        while try !connection.query("SELECT pg_try_advisory_xact_lock($1)", .integer(lock)).flag(0, 0) {
            if ContinuousClock.now > end, let holder = try PostgresHolder.ofAdvisoryLock(lock, connection) {
                throw StoreError.unusable("\(holder) holds the lock for new tables: end that session, and start again")
            }
            usleep(50_000)
        }
    }

    static func isComplete(_ connection: PostgresConnection) throws -> Bool {
        try parts.allSatisfy { try foundVersion(of: $0, connection) == $0.version }
    }

    private static let parts = [PostgresItemSchema.part, PostgresLedgerSchema.part, PostgresSigningKeys.part]

    /// Returns 0 if the part has no tables.
    private static func foundVersion(of part: PostgresPart, _ connection: PostgresConnection) throws -> Int64 {
        guard try connection.query("SELECT to_regclass('intertwine_migration') IS NULL").flag(0, 0) else {
            throw StoreError.unusable(
                "was written by a version before 0.1.0, which this version cannot read: import the items into an empty database")
        }
        guard try connection.query("SELECT to_regclass('intertwine_schema') IS NOT NULL").flag(0, 0) else { return 0 }
        let rows = try connection.query("SELECT part, version FROM intertwine_schema ORDER BY part")
        var found: Int64 = 0
        for row in 0..<rows.count {
            let (name, version) = (rows.text(row, 0), rows.integer(row, 1))
            let supported = ([PostgresItemSchema.index, part] + parts).first { $0.name == name }?.version ?? 1
            guard version <= supported else {
                throw StoreError.unusable(
                    "was written by a newer version of this program (\(name) \(version); this version supports \(supported)); update it")
            }
            if name == part.name { found = version }
        }
        return found
    }

    /// Another role would fail at midnight.
    private static func checkOwner(_ connection: PostgresConnection) throws {
        let strange = try connection.query(
            """
            SELECT quote_ident(pg_get_userbyid(relowner)), quote_ident(current_user) FROM pg_class
            WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
            AND relname IN ('intertwine_schema', 'item', 'event', 'event_number', 'signing_key')
            AND NOT pg_has_role(relowner, 'USAGE') AND to_regclass('intertwine_schema') IS NOT NULL LIMIT 1
            """)
        guard !strange.isEmpty else { return }
        let (owner, user) = (strange.text(0, 0), strange.text(0, 1))
        throw StoreError.unusable("the tables belong to \(owner): connect as that user, or GRANT \(owner) TO \(user)")
    }
}
