package import IntertwineFeed

extension StoreSnapshot where Self: SQLSession {
    package func filterValues(_ filter: ItemFilter, in stream: StreamID) throws -> [FilterValue] {
        let value = SectionIndex.expression(of: filter, Self.dialect)
        return try rows(
            """
            SELECT \(value), count(*) FROM item WHERE lane = \(stream.rawValue) AND \(value) <> ''
            GROUP BY \(value) ORDER BY count(*) DESC LIMIT ?1
            """, .integer(Int64(ItemFilter.listLimit))
        ) { FilterValue(value: $0.text(0), count: Int($0.integer(1))) }
    }

    /// Each value has a range of an index in the order of the section, so that a page costs as much as its rows. The ranges are merged.
    package func visit(_ query: RowQuery, by filter: RowFilter, _ body: (ItemRow) throws -> Void) throws {
        guard let first = filter.conditions.first else { return }
        let (stream, order): (StreamID, SortField?)
        switch query.rows {
        case .stream(let rows): (stream, order) = (rows, nil)
        case .sorted(let rows, let field): (stream, order) = (rows, field)
        case .type: return
        }
        var values: [SQLValue] = [.integer(Int64(max(query.limit, 0)))]
        func parameter(_ value: SQLValue) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let (comparison, way) = query.direction == .forward ? (">", "") : ("<", " DESC")
        let key = order.map { SectionIndex(stream: stream, field: $0).expression(Self.dialect) }
        // The first range: items with the key of the anchor. The second one: items with other keys.
        var ranges = [(condition: "", order: [key, "position"].compactMap { $0.map { "\($0)\(way)" } }.joined(separator: ", "))]
        if let anchor = query.anchor {
            let position = "position \(comparison) \(parameter(.integer(anchor.position)))"
            if let key, let order {
                let known: SQLValue =
                    switch anchor.key ?? order.leastKey {
                    case .number(let number): .number(number)
                    case .text(let bytes): .utf8(bytes)
                    }
                let parameter = parameter(known)
                ranges[0].condition = " AND \(key) \(comparison) \(parameter)"
                ranges.append((" AND \(key) = \(parameter) AND \(position)", "position\(way)"))
            } else {
                ranges[0].condition = " AND \(position)"
            }
        }
        let others = filter.conditions.dropFirst().map { condition in
            let list = condition.values.map { parameter(.text($0)) }.joined(separator: ", ")
            return " AND \(SectionIndex.expression(of: condition.filter, Self.dialect)) IN (\(list))"
        }.joined()
        let index = SectionIndex(stream: stream, field: order, filter: first.filter, among: filter.filters)
        let parts = first.values.map { parameter(.text($0)) }.flatMap { value in
            ranges.map { range in
                """
                SELECT * FROM (SELECT kind, id, variant, position, \(CountedItem.body) AS shown\(key.map { ", \($0) AS sortkey" } ?? "") FROM item%INDEX%
                WHERE lane = \(stream.rawValue) AND \(SectionIndex.expression(of: first.filter, Self.dialect)) = \(value)\(range.condition)\(others)
                ORDER BY \(range.order) LIMIT ?1) AS part
                """
            }
        }
        let text =
            parts.joined(separator: "\nUNION ALL\n") + " ORDER BY \(key == nil ? "" : "sortkey\(way), ")position\(way) LIMIT ?1"
        func run(_ index: String, _ read: (Row) throws -> Void) throws {
            try self.run([SQLCommand(text.replacing("%INDEX%", with: index), values)]) { try read($1) }
        }
        func read(_ row: Row) throws {
            try body(
                ItemRow(
                    kind: row.view(0), id: row.view(1), variant: row.view(2), position: row.integer(3),
                    sortKey: order.map { $0.comparison == .number ? .number(row.number(5)) : .text(row.bytes(5)) }, body: row.view(4)))
        }
        // Hidden streams have no indices, and those of another configuration are gone.
        var hasBegun = stream.rawValue < 0
        if !hasBegun {
            do {
                return try run(Self.dialect.index("\"\(index.name)\"")) {
                    hasBegun = true
                    try read($0)
                }
            } catch  where !hasBegun && !Self.dialect.isSetWise {}
        }
        try run("", read)
    }
}
