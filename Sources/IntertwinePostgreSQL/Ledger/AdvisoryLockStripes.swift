internal import IntertwineStorageCore

/// The advisory locks for the keys of short rate windows that decide a group.
/// A large group would lock nearly all, and takes one lock for all of them.
struct AdvisoryLockStripes {
    private static let count = 256
    private static let most = 24

    private var words = InlineArray<4, UInt64>(repeating: 0)

    mutating func insert(_ key: RateCounterKey) {
        let stripe = Int(truncatingIfNeeded: key.high) & (Self.count - 1)
        words[stripe >> 6] |= 1 << UInt64(stripe & 63)
    }

    var isEmpty: Bool { words.indices.allSatisfy { words[$0] == 0 } }

    var locks: (all: SQLCommand, each: SQLCommand?)? {
        if isEmpty { return nil }
        let all: [SQLValue] = [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.rateCounters)]
        guard words.indices.reduce(0, { $0 + words[$1].nonzeroBitCount }) <= Self.most else {
            return (SQLCommand("SELECT pg_advisory_xact_lock($1::int, $2::int)", all), nil)
        }
        let stripes = (0..<Self.count).filter { words[$0 >> 6] & 1 << UInt64($0 & 63) != 0 }
        let each = SQLCommand(
            "SELECT pg_advisory_xact_lock($1::int, place::int) FROM unnest($2) AS place",
            [.integer(PostgresLedgerSchema.lockClass), .integers(stripes.map { PostgresLedgerSchema.Lock.rateCounter + Int64($0) })])
        return (SQLCommand("SELECT pg_advisory_xact_lock_shared($1::int, $2::int)", all), each)
    }
}
