internal import IntertwineFeed
import IntertwineStorageCore

final class PostgresStaging: StagingDatabase {
    private let address: PostgresAddress
    private let changes: OwnWrites
    private let note: String
    private let session: GuardedSession

    init(_ address: PostgresAddress, _ changes: OwnWrites, _ name: String, for source: String? = nil, note: String = "") throws {
        (self.address, self.changes, self.note) = (address, changes, note)
        let connection = try ServerChecks.explaining(address) {
            // The end of a long import is one long statement.
            let connection = try PostgresConnection(address, PostgresSettings(applicationName: name, statementTimeout: .zero))
            try PostgresSchema.create(PostgresItemSchema.part, connection)
            // The server ends a long statement of a lost client, if its platform supports that.
            _ = try? connection.execute("SET client_connection_check_interval = '2s'")
            return connection
        }
        if let source {
            // Goes with the session, however that ends.
            let isFree = try connection.query("SELECT pg_try_advisory_lock(hashtextextended($1, 5461))", .text(source)).flag(0, 0)
            guard isFree else { throw SnapshotRejection.busy(source) }
        }
        // A stalled process must not lock others out.
        session = try ServerChecks.explaining(address) { try GuardedSession(connection) }
    }

    func stage<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        do {
            return try session.use(body)
        } catch let error as PostgresError {
            throw error.storeError(at: address.shown, note: note)
        }
    }

    func merge<Value>(_ count: Int64, _ body: (PostgresConnection) throws -> (Value, commits: Bool)) throws -> Value {
        try stage { connection in
            do {
                // The planner needs the numbers and kinds of the rows of an import, without an analysis of their bodies, which takes long. It
                // hashes the few streams: a merge join would sort all rows, bodies included.
                try connection.execute(
                    count > 0
                        ? """
                        ANALYZE staged (number, lane, kind, id); BEGIN;
                        SET LOCAL work_mem = '64MB'; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off
                        """ : "ANALYZE staged; BEGIN")
                try connection.run([
                    SQLCommand("SET LOCAL lock_timeout = '60s'"),
                    SQLCommand("SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))"),
                    // All other writers wait while this transaction waits for a lock, so the timeout is short.
                    SQLCommand("SET LOCAL lock_timeout = '5s'"),
                ])
                let (value, commits) = try body(connection)
                guard commits else {
                    try connection.execute("ROLLBACK")
                    return value
                }
                try changes.commit(connection)
                // Without it the first pages may scan.
                if count >= 1_000 { _ = try? connection.execute("ANALYZE item; ANALYZE ad_listing") }
                return value
            } catch {
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    func close() {
        // The server would detect it a moment later.
        _ = try? session.use { try $0.execute("SELECT pg_advisory_unlock_all()") }
        session.end()
    }
}
