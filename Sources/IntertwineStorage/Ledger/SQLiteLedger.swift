import Foundation
import GRDB
public import IntertwineFeed
import IntertwinePrimitives
import Synchronization

/// The ledger in an SQLite file of its own, next to the items'.
public final class SQLiteLedger: Ledger {
    private struct State {
        // Before the pool: the connection that writes is to be the last to close.
        var connections: ReadConnections
        var pool: DatabasePool
        var watch = FileReplacementMonitor()
        var log = LogGuard()
        var counter: WALChangeCounter
    }

    private let state: Mutex<State>
    let threads: ReaderPool
    let check = FileCheck(from: [0])
    private let lockTimeout: Double
    private let path: String
    let commits: GroupCommit
    let now: @Sendable () -> Int64

    /// Opens the ledger, and makes it where there is none.
    ///
    /// - Parameters:
    ///   - waiting: units that may wait for the disk; one more is refused as `StoreError.overloaded`.
    ///   - group: units that share one transaction at most, which bounds how long the first of them waits for the last.
    ///   - lockTimeout: seconds that a unit waits in all while another process keeps the file locked; it then fails as `StoreError.unavailable`.
    ///   - reads: what reading may take; reports take no more than half of the threads.
    ///   - now: milliseconds since 1970-01-01 UTC.
    /// - Throws: `StoreError.unusable` with one line that names the file and the reason; the file is then as it was.
    public init(
        path: String, waiting: Int = 4_096, group: Int = 512, lockTimeout: Double = 2, reading reads: ReadLimits = ReadLimits(),
        now: @escaping @Sendable () -> Int64 = SQLiteLedger.systemTime
    ) throws(StoreError) {
        self.now = now
        let limits = GroupCommit.Limits(waiting: waiting, group: max(1, group), maxQueueTime: .seconds(lockTimeout))
        self.lockTimeout = lockTimeout
        self.path = path
        threads = ReaderPool(reads)
        let (pool, connections, file, counter) = try Self.open(path, lockTimeout)
        state = Mutex(State(connections: connections, pool: pool, counter: counter))
        do {
            commits = try GroupCommit(pool, file, counter, limits: limits, now: now)
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch {
            throw .unusable("\(path): \(error)")
        }
    }

    private static func open(
        _ path: String, _ lockTimeout: Double
    ) throws(StoreError) -> (DatabasePool, ReadConnections, FileIdentity, WALChangeCounter) {
        let pool = try LedgerSchema.file(path).open(configuration(lockTimeout))
        let connections = ReadConnections(path, busyTimeout: lockTimeout, pragmas: pragmas)
        do {
            try pool.syncCommits()
            // The WAL is copied back in the commit that fills it: every 16 MiB, so that fewer than one commit in a hundred waits for that.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 4000") }
            // The files beside it are there once it was read.
            _ = try connections.read { try SQLStatement.integer($0, "SELECT count(*) FROM sqlite_schema") }
            let file = try FileIdentity(path)
            connections.report(to: file.integrity)
            return (pool, connections, file, try WALChangeCounter(pool))
        } catch let error as StoreError {
            throw error
        } catch {
            throw (error as? DatabaseError).map(StoreError.init) ?? .unusable("\(path): \(error)")
        }
    }

    var pool: DatabasePool { state.withLock { $0.pool } }

    /// Where everything is read, on whatever thread asks.
    var connections: ReadConnections { state.withLock { $0.connections } }

    /// Looks whether the file is still the one that stands at its path. Where another has come, that is opened.
    ///
    /// - Returns: what has changed since the last look. To be called now and then, by one caller at a time; it blocks.
    package func checkForReplacement() -> FileChange? {
        var (watch, counter) = state.withLock { ($0.watch, $0.counter) }
        try? connections.read { commits.file.integrity.look($0, counter) }
        let news = watch.check(file: commits.file) {
            let (pool, connections, file, counter) = try Self.open(path, lockTimeout)
            try commits.reopen(with: pool, file, counter)
            state.withLock { ($0.connections, $0.pool, $0.counter, $0.log) = (connections, pool, counter, LogGuard()) }
            check.restart()
        }
        state.withLock { $0.watch = watch }
        guardLog()
        return news
    }

    /// Has the loss of the write-ahead log show at the next start. To be called by one caller at a time; it blocks.
    package func guardLog() {
        var (log, counter) = state.withLock { ($0.log, $0.counter) }
        log.look(counter) { try commits.maintain($0) }
        state.withLock { $0.log = log }
    }

    /// Runs something on the writing connection, outside a transaction; on disk when it returns.
    func maintain<Value>(_ body: (Database) throws -> Value) throws -> Value { try commits.maintain(body) }

    /// Writes something, unless a commit has just shown that it can be done, and reads where the next event goes.
    public func checkReady() async throws {
        let connections = connections
        try await StoreError.wrapping {
            try await commits.checkWritable()
            try await threads.run(for: .request) {
                try connections.readAfresh { _ = try SQLStatement.integer($0, "SELECT max(id) FROM event") }
            }
        }
    }

    /// The system's clock.
    public static let systemTime: @Sendable () -> Int64 = WallClock.now

    private static let pragmas = "PRAGMA cache_size = -8192; PRAGMA mmap_size = 0"

    private static func configuration(_ lockTimeout: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(lockTimeout)
        configuration.label = "intertwine.ledger"
        // A transaction that a failing disk leaves open is ended by the next one, rather than by a trap of GRDB's.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { try $0.execute(sql: pragmas) }
        return configuration
    }

    public func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try await withCheckedThrowingContinuation { continuation in
            commits.commit(entry) { continuation.resume(with: $0) }
        }
    }

    public func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        commits.commit(entry, completion: completion)
    }

    package var statistics: LedgerStatistics { commits.statistics }

    /// Makes the file alone hold everything that is committed by then; without it, part of that may stand in the `-wal` file beside it.
    ///
    /// - Throws: `StoreError.unavailable` where another process is in the way.
    public func completeFile() async throws {
        try await StoreError.wrapping { try await commits.completeFile() }
    }

    public func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? {
        let now = now()
        return try await read { try IdempotencyStore($0).receipt(of: key, now: now) }
    }

    func read<Value: Sendable>(
        for purpose: ReadPurpose = .request, _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping { try await threads.run(for: purpose) { try connections.read(body) } }
    }

    /// How reading goes.
    package var readStatistics: ReadStatistics { threads.statistics }
}

extension SQLiteLedger {
    /// Opens a ledger that is there; for those who only read it.
    ///
    /// - Throws: `StoreError.unusable` where there is none.
    public convenience init(existing path: String) throws(StoreError) {
        guard FileManager.default.fileExists(atPath: path) else { throw .unusable("\(path): there is no ledger") }
        try self.init(path: path)
    }

    /// Whether the file is there as this version keeps it: opening it writes nothing.
    package static func isUpToDate(_ path: String) throws(StoreError) -> Bool { try LedgerSchema.file(path).isUpToDate() }
}

/// What a ledger has written since it was opened, and what waits.
package struct LedgerStatistics: Sendable, Hashable {
    /// Transactions.
    package var commits = 0
    /// Units of work in them.
    package var units = 0
    /// The most units that shared one transaction.
    package var largestGroup = 0
    /// Units that could not be written.
    package var failed = 0
    /// Units that were turned away because too many waited.
    package var refused = 0
    /// Units that wait now.
    package var waiting = 0

    package init() {}
}
