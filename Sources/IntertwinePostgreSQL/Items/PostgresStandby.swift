internal import IntertwineFeed
internal import IntertwineStorageCore
import Synchronization

/// A position in a server's write-ahead log (LSN), with the timeline of that log.
struct LSN: Sendable, Hashable {
    private let (system, database): (Int64, Int64)
    private let timeline: Int64
    private let position: Int64

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

    func isReached(by other: LSN?) -> Bool {
        guard let other, isOfSameDatabase(as: other), timeline == other.timeline else { return false }
        return other.position >= position
    }
}

/// The newest commit that changed items, of those that this process has made or was notified of.
final class CommittedLSN: Sendable {
    private let lsn = Mutex<LSN?>(nil)

    var newest: LSN? { lsn.withLock { $0 } }

    /// Call it with a session of the primary, before the commit is reported to any reader.
    func record(_ connection: PostgresConnection) {
        let now = try? LSN.now(connection)
        // A failover starts another log, in which earlier positions are not comparable.
        lsn.withLock { if now?.isReached(by: $0) != true { $0 = now } }
    }
}

/// A hot standby of the items' database, which serves reads if it has replayed everything that this process has seen.
/// If the standby lags or fails, the primary serves the read. Reads from the standby are therefore never older than reads from the primary.
final class PostgresStandby: Sendable {
    private struct State {
        var isLagging = true
        var isTried = false
        var cooldown: ContinuousClock.Instant?
    }

    private static let (lag, failure) = (Duration.milliseconds(20), Duration.seconds(1))

    private let pool: PostgresPool
    private let state = Mutex(State())
    let reads = Atomic<Int>(0)
    let degradedReads = Atomic<Int>(0)
    private let servesReads: Bool
    private let maximumAge: Duration
    private let primary = Mutex<(lastContact: ContinuousClock.Instant, isAway: Bool)>((.now, false))
    private let measured = Mutex<(lag: Duration?, next: ContinuousClock.Instant)>((nil, .now))

    init(_ address: PostgresAddress, servesReads: Bool = true, requiresStandby: Bool = false, maximumAge: Duration = .zero) {
        let settings = PostgresSettings(
            applicationName: "intertwine standby reader", plansOnce: true, readsOneState: true, requiresStandby: requiresStandby)
        pool = PostgresPool(address, settings: settings)
        (self.servesReads, self.maximumAge) = (servesReads, maximumAge)
    }

    func check(_ primary: LSN?) throws(StoreError) {
        guard let primary, let own = try? pool.use({ try LSN.now($0) }), !own.isOfSameDatabase(as: primary) else { return }
        throw .unusable(
            "store.read-database: \(pool.address.shown) has another database than store.database; name a standby of that database")
    }

    /// Runs `body` on the standby, unless its data is older than `minimum`.
    /// nil if the caller must use the primary.
    func read<Value>(notOlderThan minimum: LSN, _ body: (PostgresSnapshot) throws -> Value) throws -> Value? {
        guard servesReads, begin() else { return nil }
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

    // MARK: While the primary is away

    func primaryDidRespond() { primary.withLock { $0 = (.now, false) } }
    func primaryDidVanish() { primary.withLock { $0.isAway = true } }

    var isPrimaryAway: Bool { maximumAge > .zero && primary.withLock { $0.isAway } }

    /// `mustBeComplete`: True if the standby must have replayed that commit.
    func readDegraded<Value>(
        since newest: LSN?, mustBeComplete: Bool, _ body: (PostgresConnection, Duration) throws -> Value
    ) throws -> Value? {
        guard maximumAge > .zero else { return nil }
        do {
            return try pool.use { connection in
                let (isComplete, delay) = try replay(connection, newest)
                let silence = primary.withLock { $0.lastContact }.duration(to: .now)
                let known = isComplete ? silence : delay.map { max($0, silence) }
                guard isComplete || !mustBeComplete, let age = known, age <= maximumAge else { return nil }
                let value = try body(connection, age)
                degradedReads.add(1, ordering: .relaxed)
                return value
            }
        } catch is PostgresError {
            return nil
        }
    }

    private func replay(_ connection: PostgresConnection, _ newest: LSN?) throws(PostgresError) -> (isComplete: Bool, delay: Duration?) {
        if newest?.isReached(by: connection.followed) != true { connection.followed = try LSN.now(connection) }
        if newest?.isReached(by: connection.followed) == true { return (true, nil) }
        let rows = try connection.query(
            "SELECT (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint")
        return (false, rows.isNull(0, 0) ? nil : .milliseconds(max(0, rows.integer(0, 0))))
    }

    func measure(_ newest: LSN?) {
        guard measured.withLock({ $0.next <= .now }) else { return }
        let lag = try? pool.use { connection in
            let (isComplete, delay) = try replay(connection, newest)
            return isComplete ? Duration.zero : delay
        }
        measured.withLock { $0 = (lag ?? nil, .now + .seconds(5)) }
    }

    var lag: Duration? { measured.withLock { $0.lag } }

    var sessions: Int { pool.sessions }

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
