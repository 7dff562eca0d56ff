internal import Glibc
internal import IntertwineFeed

/// Whether a database is used by services, or by a copy that has it alone: an advisory lock that each session of either kind holds.
enum PostgresUse {
    /// "INTU".
    private static let lock: Int64 = 0x494E_5455
    /// How often a copy asks: a service that has just ended holds the lock until its server notices.
    private static let attempts = 40

    /// For a service: holds the database for as long as the session lasts.
    ///
    /// - Throws: ``PostgresError`` with the code 55006 while a copy is under way.
    static func share(_ connection: PostgresConnection) throws(PostgresError) {
        guard try connection.query("SELECT pg_try_advisory_lock_shared($1)", .integer(lock)).flag(0, 0) else {
            throw PostgresError(code: "55006", message: "intertwine copy has the database in use")
        }
    }

    /// For a copy.
    ///
    /// - Throws: `StoreError.unusable` while a service, or another copy, uses it; ``PostgresError``.
    static func takeAlone(_ connection: PostgresConnection) throws {
        for _ in 0..<attempts {
            if try connection.query("SELECT pg_try_advisory_lock($1)", .integer(lock)).flag(0, 0) { return }
            usleep(50_000)
        }
        throw StoreError.unusable("is in use by a service, or by another copy: stop all replicas, and copy then")
    }

    /// Leaves it to others, before the session ends.
    static func end(_ connection: PostgresConnection) {
        _ = try? connection.query("SELECT pg_advisory_unlock($1)", .integer(lock))
    }
}
