package import IntertwineFeed

extension StoreSnapshot where Self: SQLSession {
    package func filterValues(
        _ filter: ItemFilter, among filters: [ItemFilter], in stream: StreamID, by order: SectionSort
    ) throws -> [FilterValue] {
        let isTags = filter.form == .tags
        let value = isTags ? "value" : SectionIndex.expression(of: filter, Self.dialect)
        let index = SectionIndex(stream: stream, field: order.field, filter: filter, among: filters)
        let rows =
            isTags
            ? try index.exists(self) ? "\"\(index.name)\"" : "(\(index.tagRows(Self.dialect))) AS tagged"
            : "item WHERE lane = \(stream.rawValue) AND \(value) <> ''"
        return try self.rows(
            "SELECT \(value), count(*) FROM \(rows) GROUP BY \(value) ORDER BY count(*) DESC LIMIT ?1",
            .integer(Int64(ItemFilter.listLimit))
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
        let anchor = query.anchor.map { anchor in
            let key: SQLValue? = order.map { order in
                switch anchor.key ?? order.leastKey {
                case .number(let number): .number(number)
                case .text(let bytes): .utf8(bytes)
                }
            }
            return (position: parameter(.integer(anchor.position)), key: key.map(parameter))
        }
        let index = SectionIndex(stream: stream, field: order, filter: first.filter, among: filter.filters)
        let (isTags, name) = (first.filter.form == .tags, index.name)
        // Hidden streams have no indices.
        let isIndexed = try stream.rawValue >= 0 && (Self.dialect.isPostgreSQL && !isTags || SectionIndex.exists(name, self))
        let isTagged = isIndexed && isTags
        let others = filter.conditions.dropFirst().map { condition in
            let list = condition.values.map { parameter(.text($0)) }.joined(separator: ", ")
            guard isTagged else { return " AND \(SectionIndex.condition(condition.filter, list, Self.dialect))" }
            guard condition.filter.form == .tags else { return " AND tagged.\(index.column(condition.filter)) IN (\(list))" }
            let other = SectionIndex(stream: stream, field: order, filter: condition.filter, among: filter.filters)
            return " AND \(other.isTagged(list, like: "tagged"))"
        }.joined()
        let wanted = first.values.map { parameter(.text($0)) }
        func text() -> String {
            let position = isTagged ? "tagged.position" : "item.position"
            let key = order.map { isTagged ? "tagged.sortkey" : SectionIndex(stream: stream, field: $0).expression(Self.dialect) }
            let rows =
                isTagged
                ? "\"\(name)\" AS tagged CROSS JOIN item" : "item\(isIndexed ? Self.dialect.index("\"\(name)\"") : "")"
            // The first range: items with other keys than the anchor. The second one: items with its key.
            var ranges = [(condition: "", order: [key, position].compactMap { $0.map { "\($0)\(way)" } }.joined(separator: ", "))]
            if let anchor {
                let after = " AND \(position) \(comparison) \(anchor.position)"
                if let key, let known = anchor.key {
                    ranges[0].condition = " AND \(key) \(comparison) \(known)"
                    ranges.append((" AND \(key) = \(known)\(after)", "\(position)\(way)"))
                } else {
                    ranges[0].condition = after
                }
            }
            let parts = wanted.flatMap { value -> [String] in
                let match =
                    isTagged
                    ? "tagged.value = \(value) AND item.position = tagged.position"
                    : isTags
                        ? SectionIndex.condition(first.filter, value, Self.dialect)
                        : "\(SectionIndex.expression(of: first.filter, Self.dialect)) = \(value)"
                return ranges.map { range in
                    """
                    SELECT kind, id, variant, item.position, \(CountedItem.body) AS shown\(key.map { ", \($0) AS sortkey" } ?? "")
                    FROM \(rows) WHERE item.lane = \(stream.rawValue) AND \(match)\(range.condition)\(others)
                    ORDER BY \(range.order) LIMIT ?1
                    """
                }
            }
            // SQLite would sort the rows of a single part again.
            if parts.count == 1 { return parts[0] }
            // An item may have several of the tags.
            return parts.map { "SELECT * FROM (\($0)) AS part" }.joined(separator: isTags ? "\nUNION\n" : "\nUNION ALL\n")
                + " ORDER BY \(key == nil ? "" : "sortkey\(way), ")position\(way) LIMIT ?1"
        }
        func read(_ row: Row) throws {
            try body(
                ItemRow(
                    kind: row.view(0), id: row.view(1), variant: row.view(2), position: row.integer(3),
                    sortKey: order.map { $0.comparison == .number ? .number(row.number(5)) : .text(row.bytes(5)) }, body: row.view(4)))
        }
        try run([SQLCommand(text(), values)]) { try read($1) }
    }
}
