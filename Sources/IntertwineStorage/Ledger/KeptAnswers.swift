import GRDB
import IntertwineFeed

/// The answers that are kept under idempotency keys.
struct KeptAnswers {
    private let find: SQLStatement

    init(_ database: Database) throws {
        find = try SQLStatement(
            database, "SELECT fingerprint, answer FROM idempotency WHERE scope IN (?1, ?2) AND key = ?3 AND expires > ?4 AND expires <= ?5")
    }

    /// What a request with the key comes to, or nil where the key is new.
    func outcome(of key: IdempotencyKey, now: Int64) throws -> LedgerReceipt.Outcome? {
        defer { find.reset() }
        try find.bind(1, key.scope)
        try find.bind(2, key.formerScope)
        try find.bind(3, key.key)
        try find.bind(4, now)
        // One that is kept for longer than this one would be was kept by a clock that was ahead.
        try find.bind(5, AllowanceTable.latestEnd(at: key.expires, window: 0))
        guard try find.step() else { return nil }
        return find.text(0) == key.fingerprint ? .replayed(find.bytes(1)) : .keyReused
    }
}
