internal import Glibc
internal import IntertwineFeed
internal import IntertwineStorageCore

struct PostgresPart: Sendable {
    var name: String
    var script: String

    init(_ name: String, _ script: String) {
        self.name = name
        self.script = script
    }
}

enum PostgresSchema {
    private static let version: Int64 = 1

    private static let lock: Int64 = 0x494E_5457

    /// Creates the tables of a part, unless they exist.
    static func create(_ part: PostgresPart, _ connection: PostgresConnection) throws {
        try checkOwner(connection)
        guard try !isThere(part, connection) else { return }
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
            guard try !isThere(part, connection) else { return }
            let schema = try connection.query("SELECT quote_ident(current_schema())").text(0, 0)
            try connection.execute(part.script.replacing("@schema@", with: schema))
            try connection.query(
                "INSERT INTO intertwine_schema (part, version) VALUES ($1, $2)", .text(part.name), .integer(version))
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
        try [PostgresItemSchema.part, PostgresLedgerSchema.part, PostgresSigningKeys.part].allSatisfy { try isThere($0, connection) }
    }

    private static func isThere(_ part: PostgresPart, _ connection: PostgresConnection) throws -> Bool {
        guard try connection.query("SELECT to_regclass('intertwine_migration') IS NULL").flag(0, 0) else {
            throw StoreError.unusable(
                "was written by a version before 0.1.0, which this version cannot read: import the items into an empty database")
        }
        guard try connection.query("SELECT to_regclass('intertwine_schema') IS NOT NULL").flag(0, 0) else { return false }
        let rows = try connection.query("SELECT part, version FROM intertwine_schema ORDER BY part")
        for row in 0..<rows.count where rows.integer(row, 1) > version {
            throw StoreError.unusable(
                "was written by a newer version of this program (\(rows.text(row, 0)) \(rows.integer(row, 1)); "
                    + "this version supports \(version)); update it")
        }
        return (0..<rows.count).contains { rows.text($0, 0) == part.name }
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
