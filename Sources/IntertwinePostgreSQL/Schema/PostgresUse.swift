internal import Glibc
internal import IntertwineFeed
internal import IntertwineStorageCore

enum PostgresUse {
    private static let lock: Int64 = 0x494E_5455
    private static let attempts = 40

    static func share(_ connection: PostgresConnection) throws(PostgresError) {
        guard try connection.query("SELECT pg_try_advisory_lock_shared($1)", .integer(lock)).flag(0, 0) else {
            throw PostgresError(code: "55006", message: "intertwine copy-store is using the database")
        }
    }

    static func takeAlone(_ connection: PostgresConnection) throws {
        for _ in 0..<attempts {
            if try connection.query("SELECT pg_try_advisory_lock($1)", .integer(lock)).flag(0, 0) { return }
            usleep(50_000)
        }
        throw StoreError.unusable("is in use by a service or another copy: stop all replicas before the copy")
    }

    static func end(_ connection: PostgresConnection) {
        _ = try? connection.query("SELECT pg_advisory_unlock($1)", .integer(lock))
    }
}
