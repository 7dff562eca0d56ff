import GRDB
internal import IntertwineFeed

struct SectionIndex: Hashable {
    private static let prefix = "section_order_"

    let stream: StreamID
    let field: SortField

    /// The name of the index, which contains its complete definition, so that a changed definition is another index.
    var name: String { "\(Self.prefix)\(stream.rawValue)_\(field.comparison.rawValue)_\(field.name)" }

    /// Returns the SQL expression by which items are compared: never NULL, always of one type.
    static func expression(_ field: SortField) -> String {
        let value = "json_extract(body, '$.\"\(field.name)\"')"
        return switch field.comparison {
        case .text: "ifnull(substr(\(value), 1, \(SortField.textLimit)), '')"
        case .number: "ifnull(CAST(\(value) AS REAL), 0.0)"
        case .date: moment(value)
        }
    }

    /// Returns an SQL expression for a date: seconds since a day before the year 0000, and nanoseconds, both with a fixed number of digits.
    /// Why: SQLite's date functions end with the year 9999 in UTC, accept offsets up to 14 hours, and have millisecond precision. They
    /// therefore convert only the seconds of the local time. The blank keeps a text such as `now` from being parsed as a keyword.
    private static func moment(_ value: String) -> String {
        let (local, clock) = ("strftime('%s', substr(\(value), 1, 19) || ' ')", "substr(\(value), 11)")
        let sign = "CASE substr(\(clock), -6, 1) WHEN '+' THEN -1 WHEN '-' THEN 1 ELSE 0 END"
        let offset = "(substr(\(value), -5, 2) * 3600 + substr(\(value), -2) * 60)"
        // The conversion ends at the first character after the fraction.
        let fraction = "substr(printf('%.9f', CAST('0' || substr(\(value), 20) AS REAL)), 2, 10)"
        return "printf('%012d', \(local) + \(sign) * \(offset) + 62167305600) || \(fraction)"
    }

    static func names(in database: any SQLConnection) throws -> Set<String> {
        let statement = try SQLStatement(
            database, "SELECT name FROM sqlite_schema WHERE type = 'index' AND substr(name, 1, \(prefix.count)) = '\(prefix)'")
        defer { statement.reset() }
        var names: Set<String> = []
        while try statement.step() { names.insert(statement.text(0)) }
        return names
    }

    func make(in database: Database) throws {
        try database.execute(
            sql: "CREATE INDEX \"\(name)\" ON item (\(Self.expression(field)), position) WHERE lane = \(stream.rawValue)")
    }

    static func drop(_ name: String, in database: Database) throws {
        try database.execute(sql: "DROP INDEX \"\(name)\"")
    }
}

extension SQLStatement {
    func bind(_ index: Int32, _ key: SortKey) throws {
        switch key {
        case .number(let number): try bind(index, number)
        case .text(let text): try bind(index, text: text)
        }
    }

    func key(_ column: Int, _ field: SortField) -> SortKey {
        switch field.comparison {
        case .text, .date: .text(bytes(column))
        case .number: .number(number(column))
        }
    }
}
