import GRDB
import GRDBSQLite
internal import IntertwineFeed
import IntertwinePrimitives

package final class SQLiteGroupWriter: LedgerGroupWriter {
    package static let commitProvesDisk = true

    let pool: DatabasePool
    private let counter: WALChangeCounter
    private let file: ServedFile
    private let maxQueueTime: Duration
    private let now: @Sendable () -> Int64
    private let writer: LedgerWriter
    private var purger = LedgerExpiryPurger()
    private var isSynced = true
    private var logLimit = WriteAheadLogLimit()

    private static let probeTimeout = Duration.milliseconds(150)

    init(
        _ pool: DatabasePool, _ file: ServedFile, _ counter: WALChangeCounter, _ limits: GroupLimits, now: @escaping @Sendable () -> Int64
    ) {
        (self.pool, self.file, self.counter, self.now) = (pool, file, counter, now)
        maxQueueTime = limits.maxQueueTime
        writer = pool.writeWithoutTransaction { LedgerWriter($0) }
    }

    // MARK: Groups

    package var hasWaitingCounts: Bool { writer.hasWaitingCounts }
    package var rateCounters: (count: Int, bytes: Int) { writer.rateCounters }

    package func commit(
        _ group: [LedgerUnit], flushes: Bool, until deadline: ContinuousClock.Instant, isLate: (LedgerUnit) -> Bool
    ) throws -> [Result<LedgerReceipt, any Error>] {
        defer { logLimit.enforce(on: pool, counter) }
        let now = now()
        return try file.writing {
            try pool.writeWithoutTransaction { database in
                // The first unit has waited longest.
                try prepare(database, isSynced: true, busyTimeout: deadline - .now)
                return try writer.commit(group.map(\.entry), now: now, flushes: flushes)
            }
        }
    }

    package func failure(_ error: any Error) -> GroupFailure {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_CONSTRAINT?: .ofOneUnit
        case .SQLITE_BUSY?: .transient((error as? DatabaseError).map(StoreError.init) ?? .overloaded)
        default: .final(error)
        }
    }

    package func probe() throws {
        try file.writing {
            try prepare(isSynced: true, busyTimeout: min(maxQueueTime, Self.probeTimeout))
            try pool.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    try database.execute(sql: "PRAGMA user_version = \(LedgerSchema.file(pool.path).version)")
                    return .commit
                }
            }
        }
    }

    // MARK: Other writes

    /// `isSynced`: false if the loss of the transaction in a power failure is harmless, because the work is repeated.
    func write<Value>(isSynced: Bool, _ body: (Database) throws -> Value) throws -> Value {
        defer { logLimit.enforce(on: pool, counter) }
        return try file.writing {
            try prepare(isSynced: isSynced, busyTimeout: maxQueueTime)
            return try pool.write(body)
        }
    }

    private func prepare(isSynced: Bool, busyTimeout: Duration) throws {
        try pool.writeWithoutTransaction { try prepare($0, isSynced: isSynced, busyTimeout: busyTimeout) }
    }

    private func prepare(_ database: Database, isSynced: Bool, busyTimeout: Duration) throws {
        if isSynced != self.isSynced {
            try database.execute(sql: isSynced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            self.isSynced = isSynced
        }
        // The timeout is rounded up, so that a unit has expired when the wait for it ends.
        let milliseconds = busyTimeout > .zero ? Int32(clamping: busyTimeout.milliseconds + 1) : 0
        sqlite3_busy_timeout(database.sqliteConnection, milliseconds)
    }

    // MARK: Purge

    package func isPurgeDue() -> Bool { purger.schedule.isDue(now()) }

    package func isPurgeLate(after group: [LedgerUnit]) -> Bool { purger.schedule.isLate(after: writer.perishable) }

    package func purge() -> Bool {
        // A failed purge is retried by the next one; commits report the state of the disk.
        (try? purgeOnce()) ?? false
    }

    private func purgeOnce() throws -> Bool {
        // Removals that are lost in a power failure are repeated.
        try file.check()
        try prepare(isSynced: false, busyTimeout: .zero)
        return try pool.write { try purger.sweep($0, now: now(), longestWindow: writer.longestWindow) }
    }
}

extension GroupCommit<SQLiteGroupWriter> {
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await inTurn { try $0.write(isSynced: true, body) }
    }

    func sweep<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await inTurn { try $0.write(isSynced: false, body) }
    }
}
