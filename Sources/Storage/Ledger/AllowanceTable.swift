import Feed
import GRDB

/// Decides whether an event still counts: the first of its duplicates, and within its rates.
///
/// A window begins with the first event that counts and ends for all of its events together. Events that do not count use nothing up:
/// whoever is over a limit is not kept over it by trying.
struct AllowanceTable {
    private let find: SQLStatement
    private let use: SQLStatement

    init(_ database: Database) throws {
        find = try SQLStatement(database, "SELECT used FROM allowance WHERE key = ? AND until > ?")
        use = try SQLStatement(
            database,
            """
            INSERT INTO allowance (key, until, used) VALUES (?1, ?2, 1)
            ON CONFLICT (key) DO UPDATE SET used = iif(until > ?3, used + 1, 1), until = iif(until > ?3, until, ?2)
            """)
    }

    func verdict(on event: LedgerEvent) throws -> Verdict {
        if let duplicates = event.deduplication, try used("d:\(duplicates.key)", at: event.at) > 0 { return .duplicate }
        for rate in event.rates where try used("r:\(rate.key)", at: event.at) >= rate.limit { return .limited }
        if let duplicates = event.deduplication { try use("d:\(duplicates.key)", at: event.at, window: duplicates.window) }
        for rate in event.rates { try use("r:\(rate.key)", at: event.at, window: rate.window) }
        return .counted
    }

    private func used(_ key: String, at moment: Int64) throws -> Int64 {
        defer { find.reset() }
        find.bind(1, key)
        find.bind(2, moment)
        return try find.step() ? find.integer(0) : 0
    }

    private func use(_ key: String, at moment: Int64, window: Int64) throws {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        use.bind(1, key)
        use.bind(2, isEndless ? .max : until)
        use.bind(3, moment)
        try use.run()
    }
}
