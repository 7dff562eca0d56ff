import GRDB
import GRDBSQLite
import IntertwineItems
import IntertwineStorageCore

/// A check of one table: its rows are compared with their digests, and each row is looked up in all indexes of the table.
///
/// The check writes the digests, and a trigger removes the digest of a row that changes. Commits therefore compute no digests, and a change by
/// another program is no damage. A row is protected from the first check after its last change.
struct TableCheck: Sendable {
    /// An index as the database's schema describes it.
    private struct Index {
        let name: String
        /// The columns of the key, and the expressions in the place of columns.
        var columns: [String] = []
        var expressions: [String] = []
        /// The condition of a partial index.
        var condition: String?
    }

    private static let digestColumn = "row_digest"
    private static let rowsPerStep: Int64 = 256
    /// The bytes of rows after which a step ends, so that a transaction with digests of long rows delays no commit.
    private static let bytesPerStep = 512 << 10

    /// Tables with digests of their own.
    private static let others = "'item', 'event', 'event_digest'"

    private let name: String
    /// The columns that order and identify the rows.
    private let key: [String]
    /// All columns but the digest.
    private let columns: [String]
    private let hasDigests: Bool
    private let indexes: [Index]

    /// Reads the description of a table from the schema.
    init(_ name: String, _ connection: some SQLConnection) throws {
        self.name = name
        var (columns, key): ([String], [(Int64, String)]) = ([], [])
        let described = try SQLStatement(connection, "SELECT name, pk FROM pragma_table_xinfo(?1)")
        try described.bind(1, name)
        defer { described.reset() }
        while try described.step() {
            columns.append(described.text(0))
            if described.integer(1) > 0 { key.append((described.integer(1), described.text(0))) }
        }
        hasDigests = columns.contains(Self.digestColumn)
        self.columns = columns.filter { $0 != Self.digestColumn }
        self.key = key.sorted { $0.0 < $1.0 }.map(\.1)
        indexes = try Self.indexes(of: name, connection)
    }

    /// Returns the names of the tables of a file that have no digests of their own kind, in the order of the check.
    static func names(_ connection: some SQLConnection) throws -> [String] {
        let statement = try SQLStatement(
            connection,
            """
            SELECT name FROM sqlite_schema
            WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'grdb_*' AND name NOT IN (\(others)) ORDER BY name
            """)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    // MARK: Schema

    /// Returns the SQL that adds digests to tables that have none.
    static func addition(of tables: [String], in database: Database) throws -> String {
        try tables.map { table in
            let key = try database.primaryKey(table).columns.map { "\($0) = new.\($0)" }.joined(separator: " AND ")
            let isNew = try !database.columns(in: table).contains { $0.name == digestColumn }
            return (isNew ? "ALTER TABLE \(table) ADD COLUMN \(digestColumn) INTEGER;\n" : "") + """
                CREATE TRIGGER IF NOT EXISTS \(table)_rewritten AFTER UPDATE ON \(table)
                WHEN new.\(digestColumn) IS NOT NULL AND new.\(digestColumn) IS old.\(digestColumn) BEGIN
                    UPDATE \(table) SET \(digestColumn) = NULL WHERE \(key);
                END;

                """
        }.joined()
    }

    private static func indexes(of table: String, _ connection: some SQLConnection) throws -> [Index] {
        // The primary key of a table without row numbers is the table itself.
        let statement = try SQLStatement(
            connection,
            """
            SELECT list.name, schema.sql FROM pragma_index_list(?1) AS list LEFT JOIN sqlite_schema AS schema ON schema.name = list.name
            WHERE list.origin <> 'pk' ORDER BY list.name
            """)
        try statement.bind(1, table)
        defer { statement.reset() }
        var indexes: [Index] = []
        while try statement.step() {
            var index = Index(name: statement.text(0))
            let parts = IndexDefinition(statement.text(1))
            index.condition = parts.condition
            let keys = try SQLStatement(connection, "SELECT cid, name FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno")
            try keys.bind(1, index.name)
            defer { keys.reset() }
            var number = 0
            while try keys.step() {
                // The column number of an expression is -2.
                if keys.integer(0) >= 0 {
                    index.columns.append(keys.text(1))
                } else if parts.keys.indices.contains(number) {
                    index.expressions.append(parts.keys[number])
                }
                number += 1
            }
            indexes.append(index)
        }
        return indexes
    }

    // MARK: Rows

    /// Returns the condition on rows after a key, and up to another one if `isBounded`.
    private func range(after start: [SQLValue], isBounded: Bool) -> String {
        func tuple(_ first: Int) -> String { "(\(key.indices.map { "?\(first + $0)" }.joined(separator: ", ")))" }
        let columns = "(\(quoted(key)))"
        var conditions: [String] = []
        if !start.isEmpty { conditions.append("\(columns) > \(tuple(1))") }
        if isBounded { conditions.append("\(columns) <= \(tuple(start.count + 1))") }
        return conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
    }

    private func quoted(_ columns: [String]) -> String { columns.map { "\"\($0)\"" }.joined(separator: ", ") }

    private func rows(after start: [SQLValue], _ connection: some SQLConnection) throws -> SQLStatement {
        let statement = try SQLStatement(
            connection,
            """
            SELECT \(hasDigests ? Self.digestColumn : "NULL"), \(quoted(key)), \(quoted(columns)) FROM "\(name)"\
            \(range(after: start, isBounded: false)) ORDER BY \(quoted(key)) LIMIT \(Self.rowsPerStep)
            """)
        try statement.bind(start)
        return statement
    }

    private func key(of row: SQLStatement) -> [SQLValue] { key.indices.map { row.value($0 + 1) } }

    private func size(of row: SQLStatement) -> Int { (0..<row.columns).reduce(0) { $0 + row.size($1) } }

    private func digest(of row: SQLStatement) -> Int64 {
        var digest = RowDigest()
        digest.add(row: row, from: key.count + 1)
        return digest.value
    }

    /// Checks the rows after a key.
    ///
    /// - Parameter start: The key of the last row that was checked; empty for the first rows.
    func check(after start: [SQLValue], _ connection: some SQLConnection) throws -> RowsChecked<SQLValue> {
        var checked = RowsChecked<SQLValue>()
        guard hasDigests || !indexes.isEmpty, !key.isEmpty else { return checked }
        let statement = try rows(after: start, connection)
        defer { statement.reset() }
        var count: Int64 = 0
        while checked.bytes < Self.bytesPerStep, try statement.step() {
            count += 1
            checked.next = key(of: statement)
            checked.bytes += size(of: statement)
            guard hasDigests else { continue }
            if statement.isNull(0) {
                checked.unsealed = start
            } else if statement.integer(0) != digest(of: statement) {
                checked.damage = "a row of the table \(name) does not match its digest"
                return checked
            }
        }
        guard let last = checked.next else { return checked }
        checked.damage = try damagedIndex(from: start, through: last, connection)
        if count < Self.rowsPerStep, checked.bytes < Self.bytesPerStep { checked.next = nil }
        return checked
    }

    /// Writes missing digests of the rows after a key.
    func seal(after start: [SQLValue], _ database: Database) throws {
        guard hasDigests else { return }
        let statement = try rows(after: start, database)
        var digests: [(key: [SQLValue], digest: Int64)] = []
        var bytes = 0
        while bytes < Self.bytesPerStep, try statement.step() {
            bytes += size(of: statement)
            if statement.isNull(0) { digests.append((key(of: statement), digest(of: statement))) }
        }
        statement.reset()
        let condition = key.enumerated().map { "\"\($1)\" = ?\($0 + 2)" }.joined(separator: " AND ")
        for row in digests {
            try SQLStatement.run(
                database, "UPDATE \"\(name)\" SET \(Self.digestColumn) = ?1 WHERE \(condition)", [.integer(row.digest)] + row.key)
        }
    }

    // MARK: Indexes

    /// Looks up the rows of a range in each index.
    ///
    /// - Returns: A description of the damage; nil if each row has its entries.
    func damagedIndex(from start: [SQLValue], through last: [SQLValue], _ connection: some SQLConnection) throws -> String? {
        for index in indexes {
            let expressions = index.expressions.enumerated().map { ", \($1) AS expression_\($0)" }.joined()
            let equal =
                Set(index.columns + key).sorted().map { "entry.\"\($0)\" IS checked.\"\($0)\"" }
                + index.expressions.enumerated().map { "\($1) IS checked.expression_\($0)" }
            let condition = index.condition.map { " AND (\($0))" } ?? ""
            let range = range(after: start, isBounded: true)
            let isDamaged = try Self.integerUnlessInvalid(
                connection,
                """
                SELECT 1 FROM (SELECT *\(expressions) FROM "\(name)"\(range)\(condition)) AS checked
                WHERE NOT EXISTS (
                    SELECT 1 FROM "\(name)" AS entry INDEXED BY "\(index.name)" WHERE \(equal.joined(separator: " AND "))\(condition))
                LIMIT 1
                """, start + last)
            if isDamaged != nil { return "the index \(index.name) lacks the entry of a row" }
        }
        return nil
    }

    /// Returns the result of a query; nil also if SQLite cannot use an index of another program in it.
    private static func integerUnlessInvalid(_ connection: any SQLConnection, _ sql: String, _ values: [SQLValue]) throws -> Int64? {
        do {
            return try SQLStatement.integer(connection, sql, values)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }
}

/// The parts of a statement that creates an index.
private struct IndexDefinition {
    /// The columns and expressions of the key; empty for an index of a constraint, which has no statement.
    private(set) var keys: [String] = []
    private(set) var condition: String?

    init(_ sql: String) {
        let separator = "where"
        var (depth, isQuoted, key) = (0, false, "")
        for index in sql.indices {
            let character = sql[index]
            if character == "'" { isQuoted.toggle() }
            if !isQuoted, character == ")" { depth -= 1 }
            if !isQuoted, depth == 0, character == ")" {
                keys.append(key.trimmingPrefix { $0.isWhitespace }.description)
                let rest = sql[sql.index(after: index)...].drop(while: \.isWhitespace)
                if rest.prefix(separator.count).lowercased() == separator { condition = String(rest.dropFirst(separator.count)) }
                return
            }
            if !isQuoted, depth == 1, character == "," {
                keys.append(key.trimmingPrefix { $0.isWhitespace }.description)
                key = ""
            } else if depth > 0 {
                key.append(character)
            }
            if !isQuoted, character == "(" { depth += 1 }
        }
    }
}
