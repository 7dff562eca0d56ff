import GRDB

/// The table `recent_allowance`: a log of short rate counters, with one row for all counters of a transaction.
/// Why: keys are digests in random order. In a tree each key would dirty its own page; in the log many keys share one.
struct RateCounterLog {
    private var last: Int64 = 0
    private var own: Int64?
    private let find: SQLStatement
    private let insert: SQLStatement
    private let database: Database

    init(_ database: Database) throws {
        self.database = database
        find = try SQLStatement(database, "SELECT id, until, spilled, entries FROM recent_allowance WHERE id > ?1 ORDER BY id")
        insert = try SQLStatement(database, "INSERT INTO recent_allowance (until, spilled, entries) VALUES (?1, ?2, ?3)")
    }

    mutating func read(_ entry: (RateCounterKey, RecentRateCounters.RateCounter) throws -> Void, spilled: (Int64) -> Void) throws {
        try find.bind(1, last)
        defer { find.reset() }
        while try find.step() {
            last = find.integer(0)
            if find.integer(2) != 0 { spilled(find.integer(1)) }
            try RateCounterEntries.unpack(find.view(3), entry)
        }
    }

    mutating func write(_ entries: [(key: RateCounterKey, allowance: RecentRateCounters.RateCounter)], spilled: Int64?) throws {
        try insert.bind(1, entries.reduce(spilled ?? .min) { max($0, $1.allowance.until) })
        try insert.bind(2, Int64(spilled == nil ? 0 : 1))
        try insert.bind(3, blob: RateCounterEntries.pack(entries))
        try insert.run()
        own = database.lastInsertedRowID
    }

    mutating func hasCommitted() {
        if let own { last = own }
        own = nil
    }

    mutating func discard() { own = nil }

    /// Resets the position, so that the next call reads all rows.
    mutating func forget() { (last, own) = (0, nil) }

    /// The last row remains, so that row numbers continue after it, but its entries are cleared.
    static func sweep(_ database: Database, now: Int64, latest: Int64, batch: Int) throws -> Int {
        guard let first = try SQLStatement.integer(database, "SELECT min(id) FROM recent_allowance"),
            let last = try SQLStatement.integer(database, "SELECT max(id) FROM recent_allowance")
        else { return 0 }
        let end = min(first.addingReportingOverflow(Int64(batch)).partialValue, last)
        let living = try SQLStatement.integer(
            database,
            "SELECT id FROM recent_allowance WHERE id >= ?1 AND id < ?2 AND until > ?3 AND until <= ?4 ORDER BY id LIMIT 1",
            .integer(first), .integer(end), .integer(now), .integer(latest))
        try SQLStatement.run(database, "DELETE FROM recent_allowance WHERE id < ?1", .integer(living ?? end))
        let removed = database.changesCount
        guard living == nil, end == last else { return removed }
        try SQLStatement.run(
            database, "UPDATE recent_allowance SET entries = x'' WHERE id = ?1 AND entries <> x'' AND (until <= ?2 OR until > ?3)",
            .integer(last), .integer(now), .integer(latest))
        return removed
    }

    static func load(_ database: Database) throws {
        var log = try RateCounterLog(database)
        let insert = try SQLStatement(database, keeping)
        var end: Int64?
        try log.read {
            try insert.bind(1, blob: $0.bytes)
            try insert.bind(2, $1.until)
            try insert.bind(3, Int64($1.used))
            try insert.run()
            end = max(end ?? .min, $1.until)
        } spilled: {
            end = max(end ?? .min, $0)
        }
        guard let end else { return }
        try log.write([], spilled: end)
        guard let own = log.own else { return }
        try SQLStatement.run(database, "DELETE FROM recent_allowance WHERE id < ?1", .integer(own))
    }

    static let keeping =
        "INSERT INTO allowance (key, until, used) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET until = ?2, used = ?3"

    static let expectation = """
        INSERT INTO recent_allowance (until, spilled, entries)
        SELECT 1000 * CAST(strftime('%s', 'now') AS INTEGER) + \(RecentRateCounters.longestWindow), 1, x'' WHERE EXISTS (SELECT 1 FROM allowance)
        """
}
