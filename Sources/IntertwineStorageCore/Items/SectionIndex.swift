package import IntertwineFeed

package struct SectionIndex: Hashable {
    private static let prefix = "section_order_"

    let stream: StreamID
    let field: SortField

    package init(stream: StreamID, field: SortField) {
        (self.stream, self.field) = (stream, field)
    }

    /// It contains stream and field, so a change of either gives another index.
    /// Why: PostgreSQL truncates long names, so the name has a digest of the field too.
    package var name: String {
        let digest = field.name.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let hex = String(digest, radix: 16)
        return "\(Self.prefix)\(stream.rawValue)_\(field.comparison.rawValue)_\(hex)_\(field.name.prefix(16))"
    }

    /// Returns the SQL expression by which items are compared: never NULL, always of one type.
    package func expression(_ dialect: SQLDialect) -> String {
        let isCount = field.name.contains(".")
        if dialect.isSetWise {
            return switch field.comparison {
            case .number where isCount: "(intertwine_number('{' || coalesce(counts, '') || '}', '\(field.name)'))"
            case .text: "(intertwine_text(body, '\(field.name)') COLLATE \"C\")"
            case .number: "(intertwine_number(body, '\(field.name)'))"
            case .date: "(intertwine_moment(body, '\(field.name)') COLLATE \"C\")"
            }
        }
        let value = "json_extract(\(isCount ? "'{' || counts || '}'" : "body"), '$.\"\(field.name)\"')"
        return switch field.comparison {
        case .text: "ifnull(substr(\(value), 1, \(SortField.textLimit)), '')"
        case .number: "ifnull(CAST(\(value) AS REAL), 0.0)"
        case .date: Self.moment(value)
        }
    }

    /// Returns an SQL expression for a date in SQLite: seconds since a day before the year 0000, and nanoseconds, both with a fixed number of
    /// digits.
    ///
    /// Why: SQLite's date functions end with the year 9999 in UTC, accept offsets up to 14 hours, and have millisecond precision. They therefore
    /// convert only the seconds of the local time. The blank keeps a text such as `now` from being parsed as a keyword.
    private static func moment(_ value: String) -> String {
        let (local, clock) = ("strftime('%s', substr(\(value), 1, 19) || ' ')", "substr(\(value), 11)")
        let sign = "CASE substr(\(clock), -6, 1) WHEN '+' THEN -1 WHEN '-' THEN 1 ELSE 0 END"
        let offset = "(substr(\(value), -5, 2) * 3600 + substr(\(value), -2) * 60)"
        // The conversion ends at the first character after the fraction.
        let fraction = "substr(printf('%.9f', CAST('0' || substr(\(value), 20) AS REAL)), 2, 10)"
        return "printf('%012d', \(local) + \(sign) * \(offset) + 62167305600) || \(fraction)"
    }

    func creation(_ dialect: SQLDialect) -> String {
        "CREATE INDEX \"\(name)\" ON item (\(expression(dialect)), position) WHERE lane = \(stream.rawValue)"
    }

    static func names<Session: SQLSession>(_ session: Session) throws -> Set<String> {
        let (column, table) =
            Session.dialect.isSetWise
            ? (
                "indexname::text",
                "pg_indexes WHERE schemaname = (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'item'::regclass)"
            ) : ("name", "sqlite_schema WHERE type = 'index'")
        let names = "SELECT \(column) FROM \(table) AND substr(\(column), 1, \(prefix.count)) = '\(prefix)'"
        return Set(try session.rows(names) { $0.text(0) })
    }
}
