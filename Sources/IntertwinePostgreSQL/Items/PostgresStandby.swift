internal import IntertwineItems
internal import IntertwineStorageCore
import Synchronization

/// A position in a server's write-ahead log (LSN), with the timeline of that log.
struct LSN: Sendable, Hashable {
    /// The identifiers of the cluster and of the database in it.
    private let (system, database): (Int64, Int64)
    /// Counts how often a standby became the primary.
    private let timeline: Int64
    private let position: Int64

    /// Returns the position of a session's server: of a standby, the last one replayed; of a primary, the end of the log, after which nothing is
    /// committed. Returns nil for a standby that has replayed nothing yet.
    static func now(_ connection: PostgresConnection) throws(PostgresError) -> LSN? {
        let rows = try connection.query(
            """
            SELECT (SELECT system_identifier FROM pg_control_system()),
                (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
                CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())::bigint
                    ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END,
                (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn)::bigint
            """)
        guard rows.count == 1, !rows.isNull(0, 3) else { return nil }
        return LSN(
            system: rows.integer(0, 0), database: rows.integer(0, 1), timeline: rows.integer(0, 2), position: rows.integer(0, 3))
    }

    func isOfSameDatabase(as other: LSN) -> Bool { (system, database) == (other.system, other.database) }

    /// Returns true if `other` includes everything up to this position. False for another timeline, which may have been forked off earlier.
    func isReached(by other: LSN?) -> Bool {
        guard let other, isOfSameDatabase(as: other), timeline == other.timeline else { return false }
        return other.position >= position
    }
}

/// The newest commit that changed items, of those that this process has made or was notified of.
final class CommittedLSN: Sendable {
    private let lsn = Mutex<LSN?>(nil)

    /// Nil where it is not known.
    var newest: LSN? { lsn.withLock { $0 } }

    /// Records the position after a commit. Call it with a session of the primary, before the commit is reported to any reader.
    func record(_ connection: PostgresConnection) {
        let now = try? LSN.now(connection)
        // A failover starts another log, in which earlier positions are not comparable.
        lsn.withLock { if now?.isReached(by: $0) != true { $0 = now } }
    }
}

/// A hot standby of the items' database, which serves reads if it has replayed everything that this process has seen.
///
/// If the standby lags or fails, the primary serves the read. Reads from the standby are therefore never older than reads from the primary.
final class PostgresStandby: Sendable {
    private struct State {
        /// True if the standby has failed and has not responded since. At most one thread then waits for it.
        var isLagging = true
        var isTried = false
        /// The time before which no read uses the standby.
        var cooldown: ContinuousClock.Instant?
    }

    /// The cooldown of a standby that lags, and the cooldown after a failure.
    private static let (lag, failure) = (Duration.milliseconds(20), Duration.seconds(1))

    private let pool: PostgresPool
    private let state = Mutex(State())
    /// Reads that it has answered.
    let reads = Atomic<Int>(0)

    init(_ address: PostgresAddress) {
        let settings = PostgresSettings(applicationName: "intertwine standby reader", plansOnce: true, readsOneState: true)
        pool = PostgresPool(address, settings: settings)
    }

    /// - Throws: `StoreError.unusable` if the standby responds and has another database.
    func check(_ primary: LSN?) throws(StoreError) {
        guard let primary, let own = try? pool.use({ try LSN.now($0) }), !own.isOfSameDatabase(as: primary) else { return }
        throw .unusable(
            "store.read-database: \(pool.address.shown) has another database than store.database; name a standby of that database")
    }

    /// Runs `body` on the standby, unless its data is older than `minimum`.
    ///
    /// - Returns: nil if the caller must use the primary.
    /// - Throws: The error of `body`, except failures of the server.
    func read<Value>(notOlderThan minimum: LSN, _ body: (PostgresSnapshot) throws -> Value) throws -> Value? {
        guard begin() else { return nil }
        var rest: Duration?
        var isDoubted = false
        defer { end(isLagging: isDoubted, cooldown: rest) }
        do {
            return try pool.use { connection in
                // Before the snapshot is taken; what a session has once reached it does not lose.
                if !minimum.isReached(by: connection.followed) { connection.followed = try LSN.now(connection) }
                guard minimum.isReached(by: connection.followed) else {
                    rest = Self.lag
                    return nil
                }
                let value = try PostgresSnapshot.read(connection, body)
                reads.add(1, ordering: .relaxed)
                return value
            }
        } catch let error as PostgresError {
            // A read that conflicted with the replay is repeated on the primary, without a cooldown.
            if !error.isRepeatable { (isDoubted, rest) = (true, Self.failure) }
            return nil
        }
    }

    private func begin() -> Bool {
        state.withLock { state in
            if let rest = state.cooldown, ContinuousClock.now < rest { return false }
            guard state.isLagging else { return true }
            defer { state.isTried = true }
            return !state.isTried
        }
    }

    private func end(isLagging: Bool, cooldown: Duration?) {
        state.withLock { $0 = State(isLagging: isLagging, isTried: false, cooldown: cooldown.map { .now + $0 }) }
    }
}
