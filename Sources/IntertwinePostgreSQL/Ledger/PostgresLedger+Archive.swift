internal import Glibc
package import IntertwineFeed
internal import IntertwineStorageCore

extension PostgresLedger {
    /// It blocks appending sessions for a moment, so it is called once per read.
    package func settledEnd() async throws -> Int64 {
        try await pool.run(for: .background) { try Self.settledEnd($0) }
    }

    private static func settledEnd(_ connection: PostgresConnection) throws -> Int64 {
        var attempt = 1
        while true {
            do {
                // One round trip: no event is appended while the lock is held.
                let answers = try connection.run([
                    SQLCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), SQLCommand("SET LOCAL lock_timeout = '100ms'"),
                    SQLCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                        [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.appending)]),
                    SQLCommand("SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_number"),
                    SQLCommand("COMMIT"),
                ])
                return answers[3].integer(0, 0)
            } catch {
                guard error.code == "55P03", attempt < 50 else { throw error }
                try connection.execute("ROLLBACK")
                attempt += 1
                // The pause lets sessions that waited behind this one take the lock.
                usleep(20_000)
            }
        }
    }

    package func erase(viewer: String, owners: [String]) async throws -> ErasedViewer {
        try await eraseRows(of: viewer, owners: owners)
    }

    package func removeSettledEvents(before moment: Int64) async throws -> Int {
        let over = try await pool.run(for: .background) { connection in
            try EventPartitions.all(connection).filter { EventPartitions.isOver($0, before: moment) }
        }
        var total = 0
        for day in over {
            var attempt = 1
            while true {
                let removed = try await pool.run(for: .background) { try EventPartitions.drop(day, $0) }
                total += removed ?? 0
                guard removed == nil else { break }
                guard attempt < 50 else { throw StoreError.unavailable("events of day \(day) are in use by another session") }
                attempt += 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        return total
    }
}
