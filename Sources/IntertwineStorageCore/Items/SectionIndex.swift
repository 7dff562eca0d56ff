package import IntertwineFeed

package struct SectionIndex: Hashable {
    private static let (prefix, filterPrefix, authorPrefix) = ("section_order_", "section_filter_", "section_author_")
    static let tagPrefix = "section_tag_"

    let stream: StreamID
    /// The field that orders the section; nil for the order of positions, which only filters have an index for.
    let field: SortField?
    private let filter: ItemFilter?
    private let others: [ItemFilter]
    private var authors: [String: String] = [:]

    package init(stream: StreamID, field: SortField) { self.init(stream: stream, field: field, filter: nil, among: []) }

    /// An index of the items with each value of a filter, which has the values of the other filters too.
    package init(stream: StreamID, field: SortField?, filter: ItemFilter?, among filters: [ItemFilter]) {
        (self.stream, self.field, self.filter) = (stream, field, filter)
        others = filters.filter { $0 != filter && $0.form != .tags }
    }

    /// An index of each author's items, which has the values of the filters too.
    init(stream: StreamID, authors: [String: String], among filters: [ItemFilter]) {
        self.init(stream: stream, field: nil, filter: nil, among: filters)
        self.authors = authors
    }

    /// It contains stream and field, so a change of either gives another index.
    /// Why: PostgreSQL truncates long names, so the name has a digest of the field too.
    package var name: String {
        let filters = ([filter] + others).compactMap { $0.map { "\($0.form.rawValue) \($0.name)" } }
        let texts = [field?.name ?? ""] + (filters.isEmpty ? [] : [field?.comparison.rawValue ?? ""] + filters)
        let authored = authors.sorted { $0.key < $1.key }.map { "\($0) \($1)" }
        let digest = (texts + authored).joined(separator: " ").utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let hex = String(digest, radix: 16)
        if let filter, filter.form == .tags { return "\(Self.tagPrefix)\(stream.rawValue)_\(hex)_\(filter.name.prefix(16))" }
        if let filter { return "\(Self.filterPrefix)\(stream.rawValue)_\(hex)_\(filter.name.prefix(16))" }
        guard let field else { return "\(Self.authorPrefix)\(stream.rawValue)_\(hex)" }
        return "\(Self.prefix)\(stream.rawValue)_\(field.comparison.rawValue)_\(hex)_\(field.name.prefix(16))"
    }

    /// Returns the SQL expression by which items are compared: never NULL, always of one type.
    package func expression(_ dialect: SQLDialect) -> String {
        guard let field else { return "position" }
        let isCount = field.name.contains(".")
        if dialect.isPostgreSQL {
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

    /// Returns the SQL expression of a filter's value: a text, which is empty without a value.
    static func expression(of filter: ItemFilter, _ dialect: SQLDialect) -> String {
        if dialect.isPostgreSQL { return "(intertwine_text(body, '\(filter.name)') COLLATE \"C\")" }
        let path = "'$.\"\(filter.name)\"'"
        return switch filter.form {
        case .choice, .text, .tags: "ifnull(substr(json_extract(body, \(path)), 1, \(ItemFilter.textLimit)), '')"
        case .flag, .number: "ifnull(body -> \(path), '')"
        }
    }

    /// The characters of an author that are compared: those of the longest cell id. PostgreSQL's keys have a limit.
    private static let authorLimit = 600

    /// Returns the SQL expression of an item's author: NULL without one.
    static func author(_ fields: [String: String], _ dialect: SQLDialect) -> String {
        let cases = fields.sorted { $0.key < $1.key }.map { kind, field in
            let value = dialect.isPostgreSQL ? "intertwine_value(body, '\(field)')" : "json_extract(body, '$.\"\(field)\"')"
            return "WHEN '\(kind)' THEN \(value)"
        }
        let value = "CASE kind \(cases.joined(separator: " ")) END"
        return dialect.isPostgreSQL ? "(left(\(value), \(authorLimit)) COLLATE \"C\")" : value
    }

    /// Returns the condition that an item has one of a filter's values, which are parameters.
    static func condition(_ filter: ItemFilter, _ list: String, _ dialect: SQLDialect) -> String {
        guard filter.form == .tags else { return "\(expression(of: filter, dialect)) IN (\(list))" }
        return "EXISTS (SELECT 1 FROM \(tags(of: filter, in: "body", dialect)) WHERE tag.value IN (\(list)) AND \(isTag(dialect)))"
    }

    /// Returns a table `tag` of the values in the body of an item.
    private static func tags(of filter: ItemFilter, in body: String, _ dialect: SQLDialect) -> String {
        guard dialect.isPostgreSQL else {
            return "json_each(\(body), '$.\"\(filter.name)\"') AS tag"
        }
        let field = "(replace(\(body), '\\u0000', '\\ufffd')::json -> '\(filter.name)')"
        let list = "CASE json_typeof(\(field)) WHEN 'array' THEN \(field) ELSE '[]'::json END"
        return "(SELECT item_tag.value COLLATE \"C\" AS value FROM json_array_elements_text(\(list)) AS item_tag (value)) AS tag"
    }

    /// The column of another filter's value in a table of tags.
    func column(_ filter: ItemFilter) -> String { "other\(others.firstIndex(of: filter) ?? others.count)" }

    /// Returns the condition that this table of tags has one of the values for the item of another row.
    func isTagged(_ list: String, like row: String) -> String {
        let key = field == nil ? "" : "also.sortkey = \(row).sortkey AND "
        return "EXISTS (SELECT 1 FROM \"\(name)\" AS also WHERE also.value IN (\(list)) AND \(key)also.position = \(row).position)"
    }

    /// Returns a query of the tags of items, each once, with the columns by which a table of tags is read.
    func tagRows(of items: String = "item", with others: String = "", _ dialect: SQLDialect) -> String {
        guard let filter else { return "" }
        let key = field == nil ? "" : ", \(expression(dialect)) AS sortkey"
        return "SELECT DISTINCT tag.value\(key), position\(others) FROM \(items)\(dialect.isPostgreSQL ? " CROSS JOIN LATERAL " : ", ")"
            + "\(Self.tags(of: filter, in: "item.body", dialect)) WHERE item.lane = \(stream.rawValue) AND \(Self.isTag(dialect))"
    }

    /// SQLite also lists a value that is no list.
    private static func isTag(_ dialect: SQLDialect) -> String { dialect.isPostgreSQL ? "true" : "typeof(tag.key) = 'integer'" }

    func creations(_ dialect: SQLDialect) -> [String] {
        guard let filter, filter.form == .tags else { return [creation(dialect)] }
        let table = "\"\(name)\""
        let columns = field == nil ? "value, position" : "value, sortkey, position"
        let names = others.map { ", \(column($0))" }.joined()
        let texts = dialect.isPostgreSQL ? ["text COLLATE \"C\"", "double precision", "bigint"] : ["TEXT", "REAL", "INTEGER"]
        let type = field.map { " sortkey \($0.comparison == .number ? texts[1] : texts[0]) NOT NULL," } ?? ""
        let more = others.map { "\(column($0)) \(texts[0]), " }.joined()
        let rest = dialect.isPostgreSQL ? (others.isEmpty ? ")" : " INCLUDE (\(names.dropFirst(2))))") : ") WITHOUT ROWID"
        func added(_ rows: String) -> String {
            let filtered = others.map { ", \(Self.expression(of: $0, dialect))" }.joined()
            return "INSERT INTO \(table) (\(columns)\(names)) \(tagRows(of: rows, with: filtered, dialect))"
        }
        let start = [
            "CREATE TABLE \(table) (value \(texts[0]) NOT NULL,\(type) position \(texts[2]) NOT NULL, \(more)PRIMARY KEY (\(columns))\(rest)",
            added("item"),
        ]
        func removed(_ rows: String) -> String { "DELETE FROM \(table) WHERE (\(columns)) IN (\(tagRows(of: rows, dialect)))" }
        if dialect.isPostgreSQL {
            func trigger(_ event: String, _ tables: String, _ body: String) -> [String] {
                let function = "\(name)_\(event.lowercased())"
                return [
                    "CREATE FUNCTION \"\(function)\"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) RETURN NULL; END $$",
                    "CREATE TRIGGER \"\(function)\" AFTER \(event) ON item REFERENCING \(tables) FOR EACH STATEMENT "
                        + "EXECUTE FUNCTION \"\(function)\"()",
                ]
            }
            let (new, old) = ("(SELECT * FROM rows) AS item", "(SELECT * FROM before) AS item")
            return start + trigger("INSERT", "NEW TABLE AS rows", "\(added(new));")
                + trigger("DELETE", "OLD TABLE AS before", "\(removed(old));")
                + trigger("UPDATE", "NEW TABLE AS rows OLD TABLE AS before", "\(removed(old)); \(added(new));")
        }
        func row(_ name: String) -> String {
            "(SELECT \(["lane", "position", "body", "counts"].map { "\(name).\($0) AS \($0)" }.joined(separator: ", "))) AS item"
        }
        func trigger(_ event: String, _ body: String) -> String {
            "CREATE TRIGGER \"\(name)_\(event.prefix(6).lowercased())\" AFTER \(event) ON item BEGIN \(body) END"
        }
        return start + [
            trigger("INSERT", "\(added(row("new")));"), trigger("DELETE", "\(removed(row("old")));"),
            trigger("UPDATE OF lane, position, body, counts", "\(removed(row("old"))); \(added(row("new")));"),
        ]
    }

    static func removals(_ name: String, _ dialect: SQLDialect) -> [String] {
        guard name.hasPrefix(tagPrefix) else { return ["DROP INDEX \"\(name)\""] }
        return ["insert", "delete", "update"].map { event in
            dialect.isPostgreSQL ? "DROP FUNCTION \"\(name)_\(event)\"() CASCADE" : "DROP TRIGGER \"\(name)_\(event)\""
        } + ["DROP TABLE \"\(name)\""]
    }

    private func creation(_ dialect: SQLDialect) -> String {
        let columns =
            [
                authors.isEmpty ? nil : Self.author(authors, dialect), filter.map { Self.expression(of: $0, dialect) },
                field.map { _ in expression(dialect) },
                "position",
            ].compactMap { $0 }
            + others.map { Self.expression(of: $0, dialect) }
        return "CREATE INDEX \"\(name)\" ON item (\(columns.joined(separator: ", "))) WHERE lane = \(stream.rawValue)"
    }

    /// Why it is asked before each read that needs the index: another process may have arranged the store by its own configuration.
    func exists<Session: SQLSession>(_ session: Session) throws -> Bool { try Self.exists(name, session) }

    static func exists<Session: SQLSession>(_ name: String, _ session: Session) throws -> Bool {
        let text =
            Session.dialect.isPostgreSQL
            ? "SELECT 1 WHERE to_regclass('\"' || ?1 || '\"') IS NOT NULL" : "SELECT 1 FROM sqlite_schema WHERE name = ?1"
        return try session.integer(text, .text(name)) != nil
    }

    static func names<Session: SQLSession>(_ session: Session) throws -> Set<String> {
        let (column, table) =
            Session.dialect.isPostgreSQL
            ? (
                "indexname::text",
                "pg_indexes WHERE schemaname = (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'item'::regclass)"
            ) : ("name", "sqlite_schema WHERE type = 'index'")
        let begins = [prefix, filterPrefix, authorPrefix].map { "substr(\(column), 1, \($0.count)) = '\($0)'" }.joined(separator: " OR ")
        let tables =
            Session.dialect.isPostgreSQL
            ? "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'item'::regclass)"
                + " AND substr(relname::text, 1, \(tagPrefix.count)) = '\(tagPrefix)'"
            : "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, \(tagPrefix.count)) = '\(tagPrefix)'"
        let names = "SELECT \(column) FROM \(table) AND (\(begins)) UNION ALL \(tables)"
        return Set(try session.rows(names) { $0.text(0) })
    }
}
