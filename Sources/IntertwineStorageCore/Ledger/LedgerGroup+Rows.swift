internal import IntertwineFeed

extension LedgerGroup {
    package func eventInsertion(_ dialect: SQLDialect) -> SQLCommand? {
        guard !events.isEmpty else { return nil }
        func texts(_ value: (LedgerEvent) -> String?) -> SQLValue { .texts(events.map { value($0.event) }) }
        return SQLCommand(
            dialect.isPostgreSQL ? Self.postgresInsertion : Self.sqliteInsertion,
            [
                .integers(events.map(\.event.at)), texts(\.kind.rawValue), texts(\.cell), texts(\.viewer), texts(\.address),
                texts(\.userAgent), .texts(events.map(\.verdict.rawValue)), texts(\.impressionContext?.campaign), texts(\.page?.feed),
                texts(\.page?.section), .integers(events.map { ($0.event.page?.position).map(Int64.init) }),
                texts(\.page?.layout.rawValue), texts(\.creative?.form), texts(\.creative?.advertiser), texts(\.input?.json),
            ])
    }

    private static let insertion = """
        INSERT INTO event (
            at, kind, cell, viewer, address, user_agent, verdict, campaign, feed, section, position, layout, creative, advertiser, input)

        """
    private static let sqliteInsertion = "\(insertion)\(SQLDialect.sqlite.values(15))"
    /// Column by column: `unnest` of all together gathers the rows first, which costs a fifth more.
    private static let postgresInsertion = "\(insertion)SELECT \((1...15).map { "unnest(?\($0))" }.joined(separator: ", "))"
}

extension Rollups.Sums {
    /// `slot`: the slot of a replica, whose rows no other replica writes, so that replicas never wait for each other's counts.
    package func commands(_ dialect: SQLDialect, slot: Int64 = 0) -> [SQLCommand] {
        let texts = dialect.isPostgreSQL ? Self.postgres : Self.sqlite
        let (cells, days, deliveries, choices) = (Array(cells), Array(days), Array(deliveries), Array(choices))
        let tables: [([SQLValue], [Int64])] = [
            (
                [
                    .integers(cells.map(\.key.day)), .texts(cells.map(\.key.verdict.rawValue)), .texts(cells.map(\.key.cell.text)),
                    .texts(cells.map(\.key.kind.rawValue)),
                ], cells.map(\.value)
            ),
            (
                [.integers(days.map(\.key.day)), .texts(days.map(\.key.kind.rawValue)), .texts(days.map(\.key.verdict.rawValue))],
                days.map(\.value)
            ),
            (
                [
                    .texts(deliveries.map(\.key.campaign.text)), .texts(deliveries.map(\.key.kind.rawValue)),
                    .integers(deliveries.map(\.key.span)),
                ], deliveries.map(\.value)
            ),
            (
                [
                    .integers(choices.map(\.key.day)), .texts(choices.map(\.key.field.text)), .texts(choices.map(\.key.value.text)),
                    .texts(choices.map(\.key.kind.rawValue)),
                ], choices.map(\.value)
            ),
        ]
        return zip(texts, tables).compactMap { text, table in
            table.1.isEmpty ? nil : SQLCommand(text, table.0 + [.integers(table.1)] + (dialect.isPostgreSQL ? [.integer(slot)] : []))
        }
    }

    private static let sqlite = texts(.sqlite)
    private static let postgres = texts(.postgres)

    private static func texts(_ dialect: SQLDialect) -> [String] {
        [
            ("rollup_cell", "day, verdict, cell, kind", 4), ("rollup_day", "day, kind, verdict", 3),
            ("delivery", "campaign, kind, span", 3), ("rollup_choice", "day, field, value, kind", 4),
        ].map { table, key, count in
            let slot = dialect.isPostgreSQL ? ", slot" : ""
            return """
                INSERT INTO \(table) AS stored (\(key), count\(slot)) \(dialect.values(count + 1, and: dialect.isPostgreSQL ? 1 : 0))
                ON CONFLICT (\(key)\(slot)) DO UPDATE SET count = stored.count + excluded.count
                """
        }
    }
}
