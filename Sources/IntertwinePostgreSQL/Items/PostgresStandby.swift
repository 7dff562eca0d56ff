import IntertwineFeed
import Synchronization

/// A place in a server's log of changes, and which log that is.
struct LSN: Sendable, Hashable {
    /// Of the cluster, and of the database in it.
    private let (system, database): (Int64, Int64)
    /// Counts how often a standby became the primary.
    private let timeline: Int64
    private let position: Int64

    /// Where a session's server is: a standby has followed so far; behind it a primary has committed nothing. Nil for a standby that has
    /// followed nothing yet.
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

    /// Whether everything before this place is before another one. One of another timeline may have been forked off before it.
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

    /// Called behind a commit with a session of the primary, and before anybody is told of that commit.
    func record(_ connection: PostgresConnection) {
        let now = try? LSN.now(connection)
        // After a failover there is another log, in which what was seen before has no place.
        lsn.withLock { if now?.isReached(by: $0) != true { $0 = now } }
    }
}

/// A hot standby of the items' database, of which is read as long as it has everything that this process has seen.
///
/// Where it has not, and where it fails, the primary is asked: nothing is older for being read here.
final class PostgresStandby: Sendable {
    private struct State {
        /// Whether it has failed and has not answered since. Then no more than one thread waits for it.
        var isLagging = true
        var isTried = false
        /// Before then nobody asks it.
        var cooldown: ContinuousClock.Instant?
    }

    /// How long it is left alone where it lags behind, and where it failed.
    private static let (lag, failure) = (Duration.milliseconds(20), Duration.seconds(1))

    private let pool: PostgresPool
    private let state = Mutex(State())
    /// Reads that it has answered.
    let reads = Atomic<Int>(0)

    init(_ address: PostgresAddress) {
        let settings = PostgresSettings(applicationName: "intertwine standby reader", plansOnce: true, readsOneState: true)
        pool = PostgresPool(address, settings: settings)
    }

    /// - Throws: `StoreError.unusable` where it can be asked, and has another database.
    func check(_ primary: LSN?) throws(StoreError) {
        guard let primary, let own = try? pool.use({ try LSN.now($0) }), !own.isOfSameDatabase(as: primary) else { return }
        throw .unusable("store.read-database: \(pool.address.shown) has another database than store.database; name a standby of that")
    }

    /// Runs `body`, unless what the server has is older than `place`.
    ///
    /// - Returns: nil where the primary is to be asked.
    /// - Throws: what `body` throws, but for failures of the server.
    func read<Value>(notOlderThan place: LSN, _ body: (PostgresSnapshot) throws -> Value) throws -> Value? {
        guard begin() else { return nil }
        var rest: Duration?
        var isDoubted = false
        defer { end(isLagging: isDoubted, cooldown: rest) }
        do {
            return try pool.use { connection in
                // Before the snapshot is taken; what a session has once reached it does not lose.
                if !place.isReached(by: connection.followed) { connection.followed = try LSN.now(connection) }
                guard place.isReached(by: connection.followed) else {
                    rest = Self.lag
                    return nil
                }
                let value = try PostgresSnapshot.read(connection, body)
                reads.add(1, ordering: .relaxed)
                return value
            }
        } catch let error as PostgresError {
            // What was in the way of the replay is done once more, at the primary.
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
