extension TableSchema {
    private var keyNames: String { key.map(\.name).joined(separator: ", ") }

    package func rows(after key: [TableValue]?, limit: Int, _ session: some SQLSession) throws -> [[TableValue]] {
        var names = columns.map(\.name)
        if isPerReplica, let count = names.popLast() { names.append("CAST(sum(\(count)) AS bigint)") }
        let parameters = (1...keyLength).map { "?\($0)" }.joined(separator: ", ")
        var rows: [[TableValue]] = []
        try session.run([
            SQLCommand(
                """
                SELECT \(names.joined(separator: ", ")) FROM \(name) \(key == nil ? "" : "WHERE (\(keyNames)) > (\(parameters))")
                \(isPerReplica ? "GROUP BY \(keyNames)" : "") ORDER BY \(keyNames) LIMIT \(limit)
                """, (key ?? []).map(\.parameter))
        ]) { _, row in rows.append(columns.enumerated().map { Self.value(row, $0, $1) }) }
        return rows
    }

    package func insertion(of rows: [[TableValue]], _ dialect: SQLDialect) -> SQLCommand {
        let names = columns.map(\.name) + (isPerReplica && dialect.isPostgreSQL ? ["slot"] : [])
        let rest = columns.dropFirst(keyLength).map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
        return SQLCommand(
            """
            INSERT INTO \(name) (\(names.joined(separator: ", ")))\(dialect.isPostgreSQL ? " OVERRIDING SYSTEM VALUE" : "")
            \(dialect.values(columns.count, and: names.count - columns.count))
            \(isFilled ? "ON CONFLICT (\(keyNames)) DO UPDATE SET \(rest)" : "")
            """,
            columns.enumerated().map { index, column in Self.column(rows.map { $0[index] }, column) }
                + (names.count > columns.count ? [.integer(0)] : []))
    }

    private static func value(_ row: some SQLRow, _ index: Int, _ column: Column) -> TableValue {
        guard !row.isNull(index) else { return .null }
        return switch column.kind {
        case .integer, .counter: .integer(row.integer(index))
        case .flag: .integer(row.flag(index) ? 1 : 0)
        case .text, .string, .document: .text(row.text(index))
        case .bytes: .bytes(row.bytes(index))
        }
    }

    private static func column(_ values: [TableValue], _ column: Column) -> SQLValue {
        switch column.kind {
        case .integer, .counter: .integers(values.map(\.integer))
        case .flag: .flags(values.map { $0.integer == 1 })
        case .text, .string, .document: .texts(values.map { if case .text(let text) = $0 { text } else { nil } })
        case .bytes: .blobs(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        }
    }
}

extension TableValue {
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

    fileprivate var parameter: SQLValue {
        switch self {
        case .null: .integer(nil)
        case .integer(let number): .integer(number)
        case .text(let text): .text(text)
        case .bytes(let bytes): .bytes(bytes)
        }
    }
}
