internal import IntertwineFeed
internal import IntertwineStorageCore

/// Support for copies of a database, which contain the table `allowance` without the log.
extension SharedRateCounters {
    static func expectation(from moment: Int64) -> [SQLCommand] {
        let process = SQLValue.integer(Int64.random(in: 0...Int64.max))
        return [
            SQLCommand("INSERT INTO ledger_writer (process, slot, last) VALUES ($1, -1, 1)", [process]),
            SQLCommand(
                "INSERT INTO recent_allowance (writer, number, until, spilled, entries) VALUES ($1, 1, $2, true, '')",
                [process, .integer(LedgerTime.latestEnd(at: moment, window: RecentRateCounters.longestWindow))]),
        ]
    }

    static func load(_ connection: PostgresConnection) throws {
        try connection.transaction {
            let rows = try connection.query("DELETE FROM recent_allowance RETURNING id, entries")
            guard !rows.isEmpty else { return }
            let order = (0..<rows.count).sorted { rows.integer($0, 0) < rows.integer($1, 0) }
            var counters: [RateCounterKey: RecentRateCounters.RateCounter] = [:]
            for row in order { RateCounterEntries.unpack(rows.view(row, 1)) { counters[$0] = $1 } }
            let sorted = counters.sorted { $0.key < $1.key }
            try connection.run(
                [
                    SQLCommand(
                        """
                        INSERT INTO allowance (key, until, used) SELECT * FROM unnest($1, $2, $3)
                        ON CONFLICT (key) DO UPDATE SET until = excluded.until, used = excluded.used
                        """,
                        [
                            .blobs(sorted.map(\.key.bytes)), .integers(sorted.map(\.value.until)),
                            .integers(sorted.map { Int64($0.value.used) }),
                        ])
                ] + expectation(from: try connection.query("SELECT \(ServerClock.expression)").integer(0, 0)))
        }
    }
}
