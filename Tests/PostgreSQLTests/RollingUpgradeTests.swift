import IntertwineStorage
import TestSupport
import Testing

@testable import IntertwinePostgreSQL

/// A replica of the version before goes on beside one that has just migrated the database: what its statements name is there and means what it
/// did, and what they do not name need not be given.
@Suite("Replicas of two versions on one database")
struct RollingUpgradeTests {
    private let database: PostgresServer.Database

    init() throws {
        database = try PostgresServer.shared().makeDatabase()
    }

    private func lines(_ sql: String) throws -> Set<String> {
        Set(try database.psql(sql).split(separator: "\n").map(String.init))
    }

    /// Each with its type, and whether a row may come without it.
    private func columns() throws -> [String: (type: String, isNeeded: Bool)] {
        let found = try lines(
            """
            SELECT attrelid::regclass || '.' || attname || '|' || format_type(atttypid, atttypmod) || '|'
                || (attnotnull AND NOT atthasdef AND attidentity = '')
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
            """)
        return Dictionary(
            uniqueKeysWithValues: found.map { line in
                let fields = line.split(separator: "|").map(String.init)
                return (fields[0], (fields[1], fields[2] == "true"))
            })
    }

    /// What refuses rows, each with its table.
    private func rules() throws -> Set<String> {
        try lines(
            """
            SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
            WHERE connamespace = current_schema()::regnamespace
            UNION ALL
            SELECT indrelid::regclass || ' ' || pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
            WHERE indisunique AND relnamespace = current_schema()::regnamespace
            """)
    }

    @Test(
        "A migration adds tables and columns; it removes none and adds no constraint",
        arguments: [ItemMigrations.part, PostgresLedgerSchema.part])
    func expanding(part: String) throws {
        let all = part == ItemMigrations.part ? ItemMigrations.all : PostgresLedgerSchema.migrations
        let connection = try PostgresConnection(PostgresAddress(database.uri))
        try PostgresSchema.bringUpToDate(connection, part: part, migrations: [])
        var (before, rulesBefore) = (try columns(), try rules())
        for count in 1...all.count {
            try PostgresSchema.bringUpToDate(connection, part: part, migrations: Array(all.prefix(count)))
            let (after, rulesAfter) = (try columns(), try rules())
            let tables = Set(before.keys.map { $0.prefix { $0 != "." } })
            for (name, column) in before {
                #expect(after[name]?.type == column.type, "\(all[count - 1].name) changes \(name)")
                #expect(column.isNeeded || after[name]?.isNeeded == false, "\(all[count - 1].name) asks for \(name)")
            }
            for (name, column) in after where before[name] == nil && tables.contains(name.prefix { $0 != "." }) {
                #expect(!column.isNeeded, "\(all[count - 1].name) asks for \(name)")
            }
            let new = rulesAfter.subtracting(rulesBefore).filter { tables.contains($0.prefix { $0 != " " }) }
            #expect(new.isEmpty, "\(all[count - 1].name) refuses rows: \(new)")
            (before, rulesBefore) = (after, rulesAfter)
        }
    }

    @Test("Prepared statements of the previous version work during a migration, and both versions see all writes")
    func beside() throws {
        let (old, new) = (try PostgresConnection(PostgresAddress(database.uri)), try PostgresConnection(PostgresAddress(database.uri)))
        try PostgresSchema.bringUpToDate(old, part: "items", migrations: Array(ItemMigrations.all.dropLast()))
        func takeDown(_ id: String) throws {
            try old.query("INSERT INTO takedown (kind, id, at, reason) VALUES ('user', $1, 1, NULL)", .text(id))
        }
        func count() throws -> Int { try old.query("SELECT kind, id, at, reason FROM takedown ORDER BY kind, id").count }
        try takeDown("a")
        #expect(try count() == 1)
        try PostgresSchema.bringUpToDate(new, part: "items", migrations: ItemMigrations.all)
        try takeDown("b")
        try new.query("INSERT INTO takedown (kind, id, at, reason, urls) VALUES ('user', 'c', 1, NULL, '[]')")
        #expect(try count() == 3 && new.query("SELECT urls FROM takedown WHERE urls IS NULL").count == 2)
    }
}
