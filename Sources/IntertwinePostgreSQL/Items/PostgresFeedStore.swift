package import IntertwineFeed
internal import IntertwinePrimitives
package import IntertwineStorageCore
internal import Synchronization

package final class PostgresFeedStore: ItemStore {
    private let pool: PostgresPool
    private let writers: PostgresPool
    let standby: PostgresStandby?
    private let changes: ChangeListener
    private let local: OwnWrites
    private let hasIndex = Atomic(false)
    private let sectionOrders = Mutex<[StreamID: SectionSort]>([:])

    package convenience init(_ address: PostgresAddress, reading limits: ReadLimits = ReadLimits()) throws(StoreError) {
        try self.init(address, reading: limits, local: OwnWrites())
    }

    init(
        _ address: PostgresAddress, standby: PostgresStandby? = nil, reading limits: ReadLimits, local: OwnWrites
    ) throws(StoreError) {
        (self.standby, self.local) = (standby, local)
        let pulse = PostgresPulse()
        pool = PostgresPool(address, reading: limits, settings: PostgresSettings(plansOnce: true, readsOneState: true), pulse: pulse)
        let writers = PostgresPool(
            address, reading: ReadLimits(threads: 1, waiting: limits.waiting, queueTimeout: limits.queueTimeout),
            settings: PostgresSettings(
                // The wait for a lock ends before the statement does.
                applicationName: "intertwine writer", statementTimeout: max(address.statementTimeout, Self.lockTimeout + .seconds(1)),
                plansOnce: true, readsOneState: true),
            pulse: pulse)
        self.writers = writers
        changes = try ServerChecks.check(pool) { connection in
            try PostgresSchema.create(PostgresItemSchema.part, connection)
            return try ChangeListener(writers, local, standby: standby)
        }
        try standby?.check(local.seen?.newest)
    }

    private static let lockTimeout = Duration.seconds(5)
    private static let limitingLocks = SQLCommand("SET LOCAL lock_timeout = '\(lockTimeout.milliseconds)ms'")

    var pulse: PostgresPulse? { pool.pulse }

    package var version: StoreVersion { changes.version }

    package var readStatistics: ReadStatistics { pool.statistics }

    package func storageChange() -> FileChange? {
        standby?.measure(local.seen?.newest)
        return PostgresTimelines.shared.takeMessage().map(FileChange.gone)
    }

    package func completeFile() {}

    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) async throws -> Value {
        try await reading(for: purpose) { try body($0) }
    }

    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        pool.perform(for: purpose, { [self] in try snapshot(for: purpose) { try body($0) } }, completion: completion)
    }

    package func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (PostgresSnapshot) throws -> Value
    ) async throws -> Value {
        try await pool.perform(for: purpose) { [self] in try snapshot(for: purpose, body) }
    }

    /// Reads from the standby if that is as recent as the primary, and otherwise from the primary.
    private func snapshot<Value>(for purpose: ReadPurpose, _ body: (PostgresSnapshot) throws -> Value) throws -> Value {
        if let standby, let newest = changes.newest, let value = try standby.read(notOlderThan: newest, body) { return value }
        let degraded = purpose == .page ? standby : nil
        func read(mustBeComplete: Bool) throws -> Value? {
            try degraded?.readDegraded(since: local.seen?.newest, mustBeComplete: mustBeComplete) {
                try PostgresSnapshot.read($0, age: $1, body)
            }
        }
        // No request waits for a primary that does not respond, if the standby has everything that this process has seen.
        if degraded?.isPrimaryAway == true, let value = try read(mustBeComplete: true) { return value }
        do {
            return try pool.use { try PostgresSnapshot.read($0, body) }
        } catch let error as PostgresError where error.isConnectionLost {
            guard let value = try read(mustBeComplete: false) else { throw error }
            // Caches may have received older data under the present version.
            changes.invalidate()
            return value
        }
    }

    package var connectionStatistics:
        (sessions: Int, isListening: Bool, standby: (sessions: Int, lag: Duration?, reads: Int, degraded: Int)?)
    {
        (
            pool.sessions + writers.sessions + 1, changes.isListening,
            standby.map {
                ($0.sessions, $0.lag, $0.reads.load(ordering: .relaxed), $0.degradedReads.load(ordering: .relaxed))
            }
        )
    }

    package var orders: [StreamID: SectionSort] {
        get { sectionOrders.withLock { $0 } }
        set { sectionOrders.withLock { $0 = newValue } }
    }

    package var isIndexed: Bool { hasIndex.load(ordering: .relaxed) }

    package func createIndex() async throws {
        try await writers.run(for: .request) { try PostgresSchema.create(PostgresItemSchema.index, $0) }
        hasIndex.store(true, ordering: .relaxed)
    }

    package func writing<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresSnapshot) throws -> (Value, InPlaceUpdate?)
    ) async throws -> Value {
        try await writers.run(for: .request) { [self] connection in
            // A frozen replica must not block all others for longer.
            let limit = [SQLCommand("SET LOCAL idle_in_transaction_session_timeout = '5s'")]
            return try write(connection, limit) { try body($0).0 }
        }
    }

    package func reading<Value>(_ body: (PostgresSnapshot) throws -> Value) throws -> Value {
        try writers.use { try PostgresSnapshot.read($0, body) }
    }

    package func arranging<Value>(_ body: (PostgresSnapshot) throws -> Value) throws -> Value {
        // Moving items and making an index may take long.
        try writers.use { try write($0, isLong: true, body) }
    }

    private func write<Value>(
        _ connection: PostgresConnection, _ limits: [SQLCommand] = [], isLong: Bool = false, _ body: (PostgresSnapshot) throws -> Value
    ) throws -> Value {
        try changes.suppressingOwn(connection) {
            try connection.transaction(isLong: isLong) {
                let lock = SQLCommand("SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))")
                try connection.run(limits + [Self.limitingLocks, lock])
                return try body(PostgresSnapshot(inside: connection))
            }
        }
    }
}
