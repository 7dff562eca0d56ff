import GRDB
import IntertwineFeed

/// Counts by day, cell, kind and verdict: gathered over a group of units and written once before it is committed. What counts, and whatever has a
/// row, is so counted in the transaction of its row; repetitions that have none are counted within a second.
struct Rollups {
    private struct Key: Hashable {
        var day: Int64
        /// Empty for all of a day.
        var cell: ExactText
        var kind: LedgerEvent.Kind
        var verdict: Verdict
    }

    /// Those of the group that is being written.
    private var counts: [Key: Int64] = [:]
    /// Those of earlier groups that had nothing else to write. See ``postpone()``.
    private var waiting: [Key: Int64] = [:]
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

    /// Whether there is something to write.
    var isEmpty: Bool { counts.isEmpty && waiting.isEmpty }

    /// Writes all there is. It is kept until ``hasCommitted()`` or, for the group's own part, ``discard()``.
    func write() throws {
        var days: [Key: Int64] = [:]
        for (key, count) in counts.merging(waiting, uniquingKeysWith: +) {
            try addToCell.bind(5, key.cell.text)
            try Self.add(count, under: key, by: addToCell)
            days[Key(day: key.day, cell: "", kind: key.kind, verdict: key.verdict), default: 0] += count
        }
        for (key, count) in days { try Self.add(count, under: key, by: addToDay) }
    }

    mutating func hasCommitted() {
        counts.removeAll(keepingCapacity: true)
        waiting.removeAll(keepingCapacity: true)
    }

    /// Leaves the group's part to the next that writes anything.
    mutating func postpone() {
        waiting.merge(counts, uniquingKeysWith: +)
        counts.removeAll(keepingCapacity: true)
    }

    /// The group was rolled back.
    mutating func discard() {
        counts.removeAll(keepingCapacity: true)
    }

    private static func add(_ count: Int64, under key: Key, by statement: SQLStatement) throws {
        try statement.bind(1, key.day)
        try statement.bind(2, key.kind.rawValue)
        try statement.bind(3, key.verdict.rawValue)
        try statement.bind(4, count)
        try statement.run()
    }

    /// Days since 1970-01-01 UTC; times before it are on negative days.
    static func day(of moment: Int64) -> Int64 {
        let length: Int64 = 86_400_000
        return moment >= 0 ? moment / length : (moment + 1) / length - 1
    }
}
