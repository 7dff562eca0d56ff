package import IntertwineFeed
internal import IntertwineStorageCore

extension SQLiteSnapshot {
    func visit(
        _ stream: StreamID, by field: SortField, _ direction: PageDirection, of anchor: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws {
        guard let anchor else { return try visit(stream, by: field, direction, where: "", [], limit: limit, body) }
        // Two range queries of the index run in sequence, because SQLite would not seek to the start of both in one condition.
        let comparison = direction.words.comparison
        let expression = SectionIndex(stream: stream, field: field).expression(.sqlite)
        let key = anchor.key ?? field.leastKey
        var alike = 0
        try visit(
            stream, by: field, direction, where: "AND \(expression) = ?2 AND position \(comparison) ?3", [key], anchor.position,
            limit: limit
        ) {
            alike += 1
            try body($0)
        }
        guard alike < limit else { return }
        try visit(stream, by: field, direction, where: "AND \(expression) \(comparison) ?2", [key], limit: limit - alike, body)
    }

    package func count(in stream: StreamID) throws -> Int {
        // The index of ids is about a tenth of the table's size.
        let statement = try SQLStatement(database, "SELECT count(*) FROM item INDEXED BY item_identity WHERE lane = ?")
        defer { statement.reset() }
        try statement.bind(1, stream.rawValue)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    private func visit(
        _ stream: StreamID, by field: SortField, _ direction: PageDirection, where condition: String, _ key: [SortKey],
        _ position: Int64? = nil,
        limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        let expression = SectionIndex(stream: stream, field: field).expression(.sqlite)
        let way = direction.words.order
        // For items with an equal field, the order names the position alone, so that SQLite does not sort.
        let order = position == nil ? "\(expression)\(way), position\(way)" : "position\(way)"
        let statement = try ordered(
            stream, SectionIndex(stream: stream, field: field).name, "SELECT \(Self.columns), \(expression)", condition,
            "ORDER BY \(order) LIMIT ?1")
        try statement.bind(1, Int64(max(limit, 0)))
        for key in key { try statement.bind(2, key) }
        if let position { try statement.bind(3, position) }
        try visit(statement, keyedBy: field, body)
    }

    private func ordered(_ stream: StreamID, _ index: String, _ selection: String, _ condition: String, _ order: String) throws
        -> SQLStatement
    {
        // The lane and the expression are written exactly as in the index, so that SQLite can use it.
        let rest = "WHERE lane = \(stream.rawValue) \(condition) \(order)"
        if let statement = try? SQLStatement(database, "\(selection) FROM item INDEXED BY \"\(index)\" \(rest)") {
            return statement
        }
        return try SQLStatement(database, "\(selection) FROM item \(rest)")
    }
}

extension SQLStatement {
    fileprivate func bind(_ index: Int32, _ key: SortKey) throws {
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
