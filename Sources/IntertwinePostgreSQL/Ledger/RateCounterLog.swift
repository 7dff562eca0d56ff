internal import IntertwineFeed
internal import IntertwineStorageCore

/// The log of short rate counters, which all replicas share: a row for each group of a replica.
/// A replica's groups are committed in sequence and numbered, so the last number read from it shows which entries are new.
struct RateCounterLog {
    private var known: [Int64: Int64] = [:]

    private static let newRows = """
        SELECT writer.process, writer.last, entry.until, entry.spilled, entry.entries
        FROM ledger_writer AS writer LEFT JOIN unnest($1, $2) AS known (process, last) ON known.process = writer.process
        -- The order makes the planner look up each row.
        LEFT JOIN LATERAL (
            SELECT id, until, spilled, entries FROM recent_allowance
            WHERE recent_allowance.writer = writer.process AND number > coalesce(known.last, 0) AND number <= writer.last ORDER BY number
        ) AS entry ON true
        WHERE writer.last > coalesce(known.last, -1)
        ORDER BY entry.id
        """

    /// The caller must hold the locks.
    func question(besides process: Int64?) -> SQLCommand {
        var known = known
        if let process { known[process] = .max }
        return SQLCommand(Self.newRows, [.integers(Array(known.keys)), .integers(Array(known.values))])
    }

    mutating func read(_ rows: PostgresRows, into counters: RateCounters) {
        for row in 0..<rows.count {
            known[rows.integer(row, 0)] = rows.integer(row, 1)
            guard !rows.isNull(row, 2) else { continue }
            counters.readLog(until: rows.integer(row, 2), isSpilled: rows.flag(row, 3), rows.view(row, 4))
        }
    }

    private static let insertion = "INSERT INTO recent_allowance (writer, number, until, spilled, entries) VALUES ($1, $2, $3, $4, $5)"

    static func commands(_ counters: RateCounters, process: Int64, number: Int64) -> [SQLCommand] {
        guard let row = counters.logRow else { return [] }
        return [
            SQLCommand(insertion, [.integer(process), .integer(number), .integer(row.until), .flag(row.isSpilled), .bytes(row.entries)])
        ]
    }

    static func expectation(from moment: Int64) -> [SQLCommand] {
        let process = SQLValue.integer(Int64.random(in: 0...Int64.max))
        let end = LedgerTime.latestEnd(at: moment, window: RecentRateCounters.longestWindow)
        return [
            SQLCommand("INSERT INTO ledger_writer (process, slot, last) VALUES ($1, -1, 1)", [process]),
            SQLCommand(insertion, [process, .integer(1), .integer(end), .flag(true), .bytes([])]),
        ]
    }

    static func load(_ connection: PostgresConnection) throws {
        try connection.transaction {
            guard try RateCounters.load(connection) else { return }
            try connection.run(expectation(from: try connection.query("SELECT \(ServerClock.expression)").integer(0, 0)))
        }
    }
}
