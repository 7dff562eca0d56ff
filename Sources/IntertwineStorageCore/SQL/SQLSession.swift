/// SQLite runs a prepared statement once for each row. PostgreSQL runs it once, with arrays.
package struct SQLCommand: Sendable {
    package var text: String
    package var values: [SQLValue]

    /// Each connection prepares a text once, so it must not contain values.
    package init(_ text: String, _ values: [SQLValue] = []) {
        self.text = text
        self.values = values
    }

    package var rowCount: Int { values.lazy.compactMap(\.rowCount).first ?? 1 }
}

package protocol SQLRow: SendableMetatype {
    func isNull(_ column: Int) -> Bool
    func integer(_ column: Int) -> Int64
    func number(_ column: Int) -> Double
    func flag(_ column: Int) -> Bool
    func text(_ column: Int) -> String
    func bytes(_ column: Int) -> [UInt8]
    func view(_ column: Int) -> UnsafeRawBufferPointer
}

extension SQLRow {
    package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
    package func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
    func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
}

package protocol SQLSession: SendableMetatype {
    associatedtype Row: SQLRow

    static var dialect: SQLDialect { get }

    @discardableResult
    func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: Row) throws -> Void) throws -> [Int]
}

extension SQLSession {
    @discardableResult
    package func write(_ text: String, _ values: SQLValue...) throws -> Int {
        try run([SQLCommand(text, values)]) { _, _ in }[0]
    }

    package func rows<Value>(_ text: String, _ values: SQLValue..., make: (Row) throws -> Value) throws -> [Value] {
        var made: [Value] = []
        try run([SQLCommand(text, values)]) { made.append(try make($1)) }
        return made
    }

    package func first<Value>(_ text: String, _ values: SQLValue..., make: (Row) throws -> Value) throws -> Value? {
        var made: Value?
        try run([SQLCommand(text, values)]) { if made == nil { made = try make($1) } }
        return made
    }

    package func integer(_ text: String, _ values: SQLValue...) throws -> Int64? {
        var found: Int64?
        try run([SQLCommand(text, values)]) { if found == nil { found = $1.optionalInteger(0) } }
        return found
    }
}

package struct SQLDialect: Sendable {
    let skipLocked: String
    package let greatest: String
    let isPostgreSQL: Bool

    package static let sqlite = SQLDialect(skipLocked: "", greatest: "max", isPostgreSQL: false)
    package static let postgres = SQLDialect(skipLocked: " FOR UPDATE SKIP LOCKED", greatest: "greatest", isPostgreSQL: true)

    /// SQLite's writers have locked the whole file.
    func locking(_ table: String) -> String { isPostgreSQL ? " FOR UPDATE OF \(table)" : "" }

    package var joined: String { isPostgreSQL ? "string_agg" : "group_concat" }

    func skipLocked(of table: String) -> String { isPostgreSQL ? "FOR UPDATE OF \(table) SKIP LOCKED" : "" }

    /// Follows a table that SQLite must read through an index.
    package func index(_ name: String) -> String { isPostgreSQL ? "" : " INDEXED BY \(name)" }

    package func isTrue(_ column: String) -> String { isPostgreSQL ? column : "\(column) = 1" }
    package func isFalse(_ column: String) -> String { isPostgreSQL ? "NOT \(column)" : "\(column) = 0" }

    package func values(_ columns: Int, and more: Int = 0) -> String {
        guard isPostgreSQL else { return "VALUES (\(Self.list(1...columns + more)))" }
        let equal = more > 0 ? ", \(Self.list(columns + 1...columns + more))" : ""
        return "SELECT new.*\(equal) FROM unnest(\(Self.list(1...columns))) AS new"
    }

    package func table(_ name: String, _ columns: [String]) -> String {
        guard isPostgreSQL else {
            return "(SELECT \(columns.enumerated().map { "?\($0 + 1) AS \($1)" }.joined(separator: ", "))) AS \(name)"
        }
        return "unnest(\(Self.list(1...columns.count))) AS \(name) (\(columns.joined(separator: ", ")))"
    }

    package func isAny(_ parameter: String) -> String { isPostgreSQL ? "= ANY (\(parameter))" : "= \(parameter)" }

    private static func list(_ numbers: ClosedRange<Int>) -> String { numbers.map { "?\($0)" }.joined(separator: ", ") }
}
