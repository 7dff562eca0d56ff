import GRDB
import IntertwineFeed

/// The index that a section is read through where it is ordered by a field. It holds the section's own items alone.
struct SectionIndex: Hashable {
    private static let prefix = "section_order_"

    let stream: StreamID
    let field: SortField

    /// Says all that the index is made of, so that a change of any of it is another index.
    var name: String { "\(Self.prefix)\(stream.rawValue)_\(field.comparison.rawValue)_\(field.name)" }

    /// What items are compared by: never NULL, always of one type. An item that was stored under another declaration and lacks the field
    /// stands where an empty value would.
    static func expression(_ field: SortField) -> String {
        let value = "json_extract(body, '$.\"\(field.name)\"')"
        return switch field.comparison {
        case .text: "ifnull(substr(\(value), 1, \(SortField.textLimit)), '')"
        case .number: "ifnull(CAST(\(value) AS REAL), 0.0)"
        case .date: moment(value)
        }
    }

    /// Seconds since a day before the year 0000 and nanoseconds, both of a fixed number of digits.
    ///
    /// SQLite's own dates end with the year 9999 in UTC, know offsets of up to 14 hours and no more than milliseconds; so they are asked for
    /// the seconds of the local time alone. The blank keeps a text such as `now` from meaning what it means to them.
    private static func moment(_ value: String) -> String {
        let (local, clock) = ("strftime('%s', substr(\(value), 1, 19) || ' ')", "substr(\(value), 11)")
        let sign = "CASE substr(\(clock), -6, 1) WHEN '+' THEN -1 WHEN '-' THEN 1 ELSE 0 END"
        let offset = "(substr(\(value), -5, 2) * 3600 + substr(\(value), -2) * 60)"
        // What follows the fraction ends the number.
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

extension SortField {
    /// What an item without the field has.
    var leastKey: SortKey {
        switch comparison {
        case .text: .text([])
        case .number: .number(0)
        case .date: .text(Array("000000000000.000000000".utf8))
        }
    }
}

extension SQLStatement {
    func bind(_ index: Int32, _ key: SortKey) throws {
        switch key {
        case .number(let number): try bind(index, number)
        case .text(let text): try bind(index, text: text)
        }
    }

    /// The value of ``SectionIndex/expression(_:)``.
    func key(_ column: Int32, _ field: SortField) -> SortKey {
        switch field.comparison {
        case .text, .date: .text(bytes(column))
        case .number: .number(number(column))
        }
    }
}
