/// A statement with the values of its parameters `?1`, `?2` and so on.
///
/// With columns among the values, the statement is a batch of rows, in which single values are equal. SQLite runs a prepared statement
/// once for each row. PostgreSQL runs it once, with arrays. ``SQLDialect`` has the few texts that differ.
package struct SQLCommand: Sendable {
    package var text: String
    package var values: [SQLValue]

    /// - Parameter text: One statement. Each connection prepares a text once, so it must not contain values.
    package init(_ text: String, _ values: [SQLValue] = []) {
        self.text = text
        self.values = values
    }

    /// The number of rows of the batch.
    package var rowCount: Int { values.lazy.compactMap(\.rowCount).first ?? 1 }
}

/// A row of a result. Columns count from 0.
package protocol SQLRow: SendableMetatype {
    func isNull(_ column: Int) -> Bool
    func integer(_ column: Int) -> Int64
    func flag(_ column: Int) -> Bool
    func text(_ column: Int) -> String
    func bytes(_ column: Int) -> [UInt8]
    /// Returns the bytes of a value without a copy. They are valid while the row is current.
    func view(_ column: Int) -> UnsafeRawBufferPointer
}

extension SQLRow {
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    package func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
    func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}

/// A connection to a database. Its calls block.
package protocol SQLSession: SendableMetatype {
    associatedtype Row: SQLRow

    static var dialect: SQLDialect { get }

    /// Runs statements in order, in one round trip.
    ///
    /// - Parameter read: Called with each row of a result, and the index of its statement.
    /// - Returns: The number of rows that each statement wrote.
    @discardableResult
    func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: Row) throws -> Void) throws -> [Int]
}

extension SQLSession {
    /// Runs one statement.
    ///
    /// - Returns: The number of rows that it wrote.
    @discardableResult
    package func write(_ text: String, _ values: SQLValue...) throws -> Int {
        try run([SQLCommand(text, values)]) { _, _ in }[0]
    }

    /// Returns what `make` makes of each row of a query.
    package func rows<Value>(_ text: String, _ values: SQLValue..., make: (Row) throws -> Value) throws -> [Value] {
        var made: [Value] = []
        try run([SQLCommand(text, values)]) { made.append(try make($1)) }
        return made
    }

    /// Returns what `make` makes of the first row of a query; nil if there is no row.
    package func first<Value>(_ text: String, _ values: SQLValue..., make: (Row) throws -> Value) throws -> Value? {
        var made: Value?
        try run([SQLCommand(text, values)]) { if made == nil { made = try make($1) } }
        return made
    }

    /// Returns the first column of the first row; nil if there is no row or the value is NULL.
    package func integer(_ text: String, _ values: SQLValue...) throws -> Int64? {
        var found: Int64?
        try run([SQLCommand(text, values)]) { if found == nil { found = $1.optionalInteger(0) } }
        return found
    }
}

/// The differences between the databases' SQL.
package struct SQLDialect: Sendable {
    /// Follows a query that locks its rows and omits those that another session has locked.
    let skipLocked: String
    /// The function that returns the greatest of its arguments.
    package let greatest: String
    /// A Boolean value indicating whether a batch is one statement over arrays.
    let isSetWise: Bool

    package static let sqlite = SQLDialect(skipLocked: "", greatest: "max", isSetWise: false)
    package static let postgres = SQLDialect(skipLocked: " FOR UPDATE SKIP LOCKED", greatest: "greatest", isSetWise: true)

    /// Follows a query whose rows of a table are locked until the end of the transaction. SQLite's writers have locked the whole file.
    func locking(_ table: String) -> String { isSetWise ? " FOR UPDATE OF \(table)" : "" }

    /// The aggregate function that joins texts.
    package var joined: String { isSetWise ? "string_agg" : "group_concat" }

    /// As ``skipLocked``, for the rows of one of several tables.
    func skipLocked(of table: String) -> String { isSetWise ? "FOR UPDATE OF \(table) SKIP LOCKED" : "" }

    /// Follows a table that SQLite must read through an index.
    package func index(_ name: String) -> String { isSetWise ? "" : " INDEXED BY \(name)" }

    /// Returns a condition on a flag, in the form of the conditions of SQLite's partial indices.
    package func isTrue(_ column: String) -> String { isSetWise ? column : "\(column) = 1" }
    package func isFalse(_ column: String) -> String { isSetWise ? "NOT \(column)" : "\(column) = 0" }

    /// Returns the rows of an `INSERT`: first columns, then values that are equal in all rows.
    package func values(_ columns: Int, and more: Int = 0) -> String {
        guard isSetWise else { return "VALUES (\(Self.list(1...columns + more)))" }
        let equal = more > 0 ? ", \(Self.list(columns + 1...columns + more))" : ""
        return "SELECT new.*\(equal) FROM unnest(\(Self.list(1...columns))) AS new"
    }

    /// Returns a table of the first parameters, which are columns, to be joined with other tables.
    package func table(_ name: String, _ columns: [String]) -> String {
        guard isSetWise else {
            return "(SELECT \(columns.enumerated().map { "?\($0 + 1) AS \($1)" }.joined(separator: ", "))) AS \(name)"
        }
        return "unnest(\(Self.list(1...columns.count))) AS \(name) (\(columns.joined(separator: ", ")))"
    }

    /// Returns a comparison with each value of a column.
    package func isAny(_ parameter: String) -> String { isSetWise ? "= ANY (\(parameter))" : "= \(parameter)" }

    private static func list(_ numbers: ClosedRange<Int>) -> String { numbers.map { "?\($0)" }.joined(separator: ", ") }
}
