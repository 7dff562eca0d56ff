import Feed
import GRDB

/// Counts by day, cell, kind and verdict: gathered over a group of units, written once before it is committed, so always exact.
struct Rollups {
    private struct Key: Hashable {
        var day: Int64
        /// Empty for all of a day.
        var cell: ExactText
        var kind: LedgerEvent.Kind
        var verdict: Verdict
    }

    private var counts: [Key: Int64] = [:]
    private let addToCell: SQLStatement
    private let addToDay: SQLStatement

    init(_ database: Database) throws {
        addToCell = try SQLStatement(
            database,
            """
            INSERT INTO rollup_cell (day, kind, verdict, count, cell) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (day, verdict, cell, kind) DO UPDATE SET count = count + ?4
            """)
        addToDay = try SQLStatement(
            database,
            """
            INSERT INTO rollup_day (day, kind, verdict, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (day, kind, verdict) DO UPDATE SET count = count + ?4
            """)
    }

    mutating func count(_ event: LedgerEvent, as verdict: Verdict) {
        counts[Key(day: Self.day(of: event.at), cell: ExactText(event.cell), kind: event.kind, verdict: verdict), default: 0] += 1
    }

    mutating func write() throws {
        var days: [Key: Int64] = [:]
        for (key, count) in counts {
            addToCell.bind(5, key.cell.text)
            try Self.add(count, under: key, by: addToCell)
            days[Key(day: key.day, cell: "", kind: key.kind, verdict: key.verdict), default: 0] += count
        }
        for (key, count) in days { try Self.add(count, under: key, by: addToDay) }
        discard()
    }

    mutating func discard() {
        counts.removeAll(keepingCapacity: true)
    }

    private static func add(_ count: Int64, under key: Key, by statement: SQLStatement) throws {
        statement.bind(1, key.day)
        statement.bind(2, key.kind.rawValue)
        statement.bind(3, key.verdict.rawValue)
        statement.bind(4, count)
        try statement.run()
    }

    /// Days since 1970-01-01 UTC; times before it are on negative days.
    static func day(of moment: Int64) -> Int64 {
        let length: Int64 = 86_400_000
        return moment >= 0 ? moment / length : (moment + 1) / length - 1
    }
}
