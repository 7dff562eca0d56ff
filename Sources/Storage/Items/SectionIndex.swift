import Feed
import GRDB

/// The index that a section is read through where it is ordered by a field. It holds the section's own items alone.
struct SectionIndex: Hashable {
    private static let prefix = "section_order_"

    let lane: Lane
    let field: SortField

    /// Says all that the index is made of, so that a change of any of it is another index.
    var name: String { "\(Self.prefix)\(lane.rawValue)_\(field.comparison.rawValue)_\(field.name)" }

    /// What items are compared by: never NULL, always of one type. An item that was stored under another declaration and lacks the field
    /// stands where an empty value would.
    static func expression(_ field: SortField) -> String {
        let value = "json_extract(body, '$.\"\(field.name)\"')"
        return switch field.comparison {
        case .text: "ifnull(substr(\(value), 1, \(SortField.textLimit)), '')"
        case .number: "ifnull(CAST(\(value) AS REAL), 0.0)"
        case .date: "ifnull(julianday(\(value)), 0.0)"
        }
    }

    static func names(in database: Database) throws -> Set<String> {
        try Set(
            String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND substr(name, 1, \(prefix.count)) = '\(prefix)'"))
    }

    func make(in database: Database) throws {
        try database.execute(
            sql: "CREATE INDEX \"\(name)\" ON item (\(Self.expression(field)), position) WHERE lane = \(lane.rawValue)")
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
        case .number, .date: .number(0)
        }
    }
}

extension SQLStatement {
    func bind(_ index: Int32, _ key: SortKey) {
        switch key {
        case .number(let number): bind(index, number)
        case .text(let text): bind(index, text: text)
        }
    }

    /// The value of ``SectionIndex/expression(_:)``.
    func key(_ column: Int32, _ field: SortField) -> SortKey {
        switch field.comparison {
        case .text: .text(bytes(column))
        case .number, .date: .number(number(column))
        }
    }
}
