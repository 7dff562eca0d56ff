internal import IntertwineFeed
internal import IntertwineStorageCore

extension Rollups.Sums {
    /// The commands that add the counts to the rows of a replica's own slot, so that replicas never wait for each other's counts.
    func commands(slot: Int64) -> [SQLCommand] {
        let cells = cells.sorted { one, other in
            (one.key.day, one.key.verdict.rawValue, one.key.cell.text, one.key.kind.rawValue)
                < (other.key.day, other.key.verdict.rawValue, other.key.cell.text, other.key.kind.rawValue)
        }
        let days = days.sorted {
            ($0.key.day, $0.key.kind.rawValue, $0.key.verdict.rawValue) < ($1.key.day, $1.key.kind.rawValue, $1.key.verdict.rawValue)
        }
        let deliveries = deliveries.sorted {
            ($0.key.campaign.text, $0.key.kind.rawValue, $0.key.span) < ($1.key.campaign.text, $1.key.kind.rawValue, $1.key.span)
        }
        let choices = choices.sorted { one, other in
            (one.key.day, one.key.field.text, one.key.value.text, one.key.kind.rawValue)
                < (other.key.day, other.key.field.text, other.key.value.text, other.key.kind.rawValue)
        }
        return [
            Self.addition(
                to: "rollup_cell", "day, verdict, cell, kind",
                [
                    .integers(cells.map(\.key.day)), .texts(cells.map(\.key.verdict.rawValue)), .texts(cells.map(\.key.cell.text)),
                    .texts(cells.map(\.key.kind.rawValue)),
                ], cells.map(\.value), slot),
            Self.addition(
                to: "rollup_day", "day, kind, verdict",
                [
                    .integers(days.map(\.key.day)), .texts(days.map(\.key.kind.rawValue)), .texts(days.map(\.key.verdict.rawValue)),
                ], days.map(\.value), slot),
            Self.addition(
                to: "delivery", "campaign, kind, span",
                [
                    .texts(deliveries.map(\.key.campaign.text)), .texts(deliveries.map(\.key.kind.rawValue)),
                    .integers(deliveries.map(\.key.span)),
                ], deliveries.map(\.value), slot),
            Self.addition(
                to: "rollup_choice", "day, field, value, kind",
                [
                    .integers(choices.map(\.key.day)), .texts(choices.map(\.key.field.text)), .texts(choices.map(\.key.value.text)),
                    .texts(choices.map(\.key.kind.rawValue)),
                ], choices.map(\.value), slot),
        ].compactMap(\.self)
    }

    private static func addition(
        to table: String, _ key: String, _ columns: [SQLValue], _ counts: [Int64], _ slot: Int64
    ) -> SQLCommand? {
        guard !counts.isEmpty else { return nil }
        return SQLCommand(
            """
            INSERT INTO \(table) AS stored (\(key), count, slot) \(SQLDialect.postgres.values(columns.count + 1, and: 1))
            ON CONFLICT (\(key), slot) DO UPDATE SET count = stored.count + excluded.count
            """, columns + [.integers(counts), .integer(slot)])
    }
}
