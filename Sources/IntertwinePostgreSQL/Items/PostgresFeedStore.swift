package import IntertwineFeed
internal import IntertwinePrimitives
package import IntertwineStorageCore
internal import Synchronization

/// The items in a database of PostgreSQL, which any number of processes may share.
package final class PostgresFeedStore: ItemStore {
    private let pool: PostgresPool
    private let writers: PostgresPool
    let standby: PostgresStandby?
    private let changes: ChangeListener
    private let local: OwnWrites
    private let orders = Mutex<[StreamID: SectionSort]>([:])

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

    private func reading<Value: Sendable>(
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

    private func write<Value: Sendable>(_ body: @escaping @Sendable (PostgresConnection) throws -> Value) async throws -> Value {
        let changes = changes
        return try await writers.run(for: .request) { connection in
            try changes.suppressingOwn(connection) {
                try connection.transaction {
                    try connection.run([
                        // A frozen replica must not block all others for longer.
                        SQLCommand("SET LOCAL idle_in_transaction_session_timeout = '5s'"),
                        Self.limitingLocks,
                        SQLCommand("SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))"),
                    ])
                    return try body(connection)
                }
            }
        }
    }

    // MARK: Items

    package func put(
        _ item: ValidatedItem, releasing: Bool, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> ItemChange {
        try await write { connection in
            try refuse(PostgresSnapshot(inside: connection).item(kind: item.kind, id: item.id))
            return try StoredItemTable(connection, releasing: releasing).put(item).change
        }
    }

    package func remove(kind: String, id: String) async throws -> Bool {
        try await write { try StoredItemTable($0).delete(ItemKey(kind: kind, id: id)) }
    }

    package func apply(
        _ operations: [StoreOperation], reason: String?, at moment: Int64, releasing: Bool,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void
    ) async throws -> StoreOperationSummary {
        guard operations.count <= StoreOperation.limit else {
            throw StoreOperationError(index: StoreOperation.limit, reason: .tooMany)
        }
        guard !operations.isEmpty else { return StoreOperationSummary() }
        let orders = orders.withLock { $0 }
        return try await write { connection in
            var writer = OperationWriter(
                try StoredItemTable(connection, releasing: releasing), orders: orders, reason: reason, at: moment)
            return try writer.apply(operations, in: PostgresSnapshot(inside: connection), unless: refuse)
        }
    }

    // MARK: Takedowns

    package func takeDown(
        _ key: ItemKey, reason: String?, at moment: Int64, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void
    ) async throws -> Bool {
        try await write { connection in
            try refuse(PostgresSnapshot(inside: connection).item(kind: key.kind, id: key.id))
            let items = try StoredItemTable(connection)
            try items.takeDown(Takedown(item: key, at: moment, reason: reason))
            return try items.delete(key)
        }
    }

    package func release(_ keys: [ItemKey]) async throws -> Int {
        try await write { try TakedownTable($0).release(keys) }
    }

    package func remember(_ memberships: [CampaignMembership]) async throws {
        try await write { try TakedownTable($0).remember(memberships) }
    }

    package func isReleasable(_ key: ItemKey) async throws -> Bool {
        try await reading(for: .background) { try TakedownTable($0).isReleasable(key) }
    }

    package func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0).takedown(of: key) }
    }

    package func takenDownURLs() async throws -> [String] {
        try await reading(for: .background) { try TakedownTable($0).urls(limit: ItemLinks.takedownLimit) }
    }

    package func takedownVersion() async throws -> TakedownVersion {
        try await reading(for: .background) { try TakedownTable($0).version() }
    }

    package func takedowns(after key: ItemKey?, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { try TakedownTable($0).list(after: key, limit: limit) }
    }

    // MARK: Sections

    package func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        try blocking { try PostgresSnapshot.read($0) { try SectionTable($0).layout.arranged(by: sections).streams } }
    }

    package func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void) throws(StoreError) -> [String: StreamID] {
        let streams: [String: StreamID] = try blocking { connection in
            let found = try PostgresSnapshot.read(connection) { try SectionTable($0) }
            guard !found.isLaid(sections) else { return found.layout.streams }
            willWrite()
            return try changes.suppressingOwn(connection) {
                // Moving items and making an index may take long.
                try connection.transaction(isLong: true) {
                    try connection.run([
                        Self.limitingLocks,
                        SQLCommand("SELECT pg_advisory_xact_lock(\(PostgresItemSchema.writers))"),
                    ])
                    var table = try SectionTable(PostgresSnapshot(inside: connection))
                    try table.lay(sections, in: connection)
                    return table.layout.streams
                }
            }
        }
        let known = sections.compactMap { section in streams[section.name].map { ($0, section.order) } }
        orders.withLock { $0 = Dictionary(known, uniquingKeysWith: { first, _ in first }) }
        return streams
    }

    private func blocking<Value>(_ body: (PostgresConnection) throws -> Value) throws(StoreError) -> Value {
        do {
            return try writers.use(body)
        } catch let error as PostgresError {
            throw error.storeError
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
