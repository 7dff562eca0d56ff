import Foundation
import GRDB
public import IntertwineFeed
import IntertwinePrimitives
import Synchronization

/// A ledger in a separate SQLite file beside the item store.
///
/// ```swift
/// let ledger = try SQLiteLedger(path: "ledger.sqlite")
/// let click = LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: "jane")
/// let receipt = try await ledger.commit(LedgerEntry(events: [click]))
/// ```
///
/// A call of `commit` returns after the entry is durable. Concurrent entries share one transaction (group commit).
public final class SQLiteLedger: Ledger {
    // The read connections are declared before the commits, because the writing connection must close last.
    /// The read connections, which any thread can use.
    let connections: ReadConnections
    package let file: ServedFile
    let threads: ReaderPool
    let commits: GroupCommit<SQLiteGroupWriter>
    let claims = ClaimQueue()
    package let now: @Sendable () -> Int64

    /// Opens the ledger, and creates it if it is missing.
    ///
    /// - Parameters:
    ///   - waiting: the limit of units that wait for the disk; a further one is refused with `StoreError.overloaded`.
    ///   - group: the limit of units in one transaction, which bounds how long the first of them waits for the last.
    ///   - lockTimeout: seconds after which a unit fails with `StoreError.unavailable` while another process keeps the file locked.
    ///   - reads: the limits of reads; reports use at most half of the threads.
    ///   - now: returns milliseconds since 1970-01-01 UTC.
    /// - Throws: `StoreError.unusable` with one line that names the file and the reason; the file is then unchanged.
    public init(
        path: String, waiting: Int = 4_096, group: Int = 512, lockTimeout: Double = 2, reading reads: ReadLimits = ReadLimits(),
        now: @escaping @Sendable () -> Int64 = SQLiteLedger.systemTime
    ) throws(StoreError) {
        self.now = now
        let limits = GroupLimits(waiting: waiting, group: max(1, group), maxQueueTime: .seconds(lockTimeout))
        threads = ReaderPool(reads)
        let pool = try LedgerSchema.file(path).open(Self.configuration(lockTimeout))
        file = try ServedFile(path)
        connections = ReadConnections(file, busyTimeout: lockTimeout, pragmas: Self.readerPragmas)
        do {
            try pool.syncCommits()
            // The commit that fills the WAL checkpoints it: every 16 MiB, so that fewer than one commit in a hundred waits for a checkpoint.
            // Erased rows are overwritten.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 4000; PRAGMA secure_delete = ON") }
            commits = GroupCommit(SQLiteGroupWriter(pool, file, try WALChangeCounter(pool), limits, now: now), limits)
        } catch let error as StoreError {
            throw error
        } catch {
            throw (error as? DatabaseError).map(StoreError.init) ?? .unusable("\(path): \(error)")
        }
    }

    package func storageChange() -> FileChange? { file.change() }

    /// Checks that the ledger can be written and read. A recent commit replaces the test write.
    public func checkReady() async throws {
        let connections = connections
        try await StoreError.wrapping {
            try file.check()
            try await commits.checkWritable()
            try await threads.run(for: .request) {
                try connections.readAfresh { _ = try $0.session.integer("SELECT max(id) FROM event") }
            }
        }
    }

    /// The system's clock in milliseconds since 1970-01-01 UTC.
    public static let systemTime: @Sendable () -> Int64 = WallClock.now

    /// The cache of the writing connection is 8 MiB. Its pages fill with the rows of each new viewer, and stay.
    private static let pragmas = "PRAGMA cache_size = -8192; PRAGMA mmap_size = 0"
    /// The cache of a reading connection is 2 MiB: there are up to two for each thread, and the kernel caches the file once for all.
    private static let readerPragmas = "PRAGMA cache_size = -2048; PRAGMA mmap_size = 0"

    private static func configuration(_ lockTimeout: Double) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(lockTimeout)
        configuration.label = "intertwine.ledger"
        // A transaction that a disk error leaves open is ended by the next one, instead of a trap in GRDB.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { try $0.execute(sql: pragmas) }
        return configuration
    }

    /// Commits one entry in a transaction that concurrent entries share, and returns after it is durable.
    ///
    /// - Throws: `StoreError.overloaded` if the queue is full; `StoreError.unavailable(_:)` if the file cannot be written.
    public func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try await withCheckedThrowingContinuation { continuation in
            commits.commit(entry) { continuation.resume(with: $0) }
        }
    }

    /// Commits one entry in a transaction that concurrent entries share, and calls a completion after it is durable.
    ///
    /// - Parameter completion: Called once, on the thread of the commits. It must not block.
    public func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        commits.commit(entry, completion: completion)
    }

    package var statistics: LedgerStatistics { commits.statistics }

    /// Copies the write-ahead log into the file, so that the file alone contains all commits so far.
    ///
    /// - Throws: `StoreError.unavailable` if another process prevents it.
    public func completeFile() async throws {
        try await StoreError.wrapping { try await commits.flushCounts() }
        try await completeLog(waiting: 1_000)
    }

    /// - Parameter milliseconds: how long clicks may wait.
    func completeLog(waiting milliseconds: Int) async throws {
        try await StoreError.wrapping { try await commits.inTurn { try $0.pool.completeFile(waiting: milliseconds) } }
    }

    /// Returns the response stored under an idempotency key that has not expired, or nil.
    public func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? {
        try await storedReceipt(of: key)
    }

    func read<Value: Sendable>(
        for purpose: ReadPurpose = .request, _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping { try await threads.run(for: purpose) { try connections.read(body) } }
    }

    /// Statistics of reads.
    package var readStatistics: ReadStatistics { threads.statistics }
}

extension SQLiteLedger {
    /// Opens an existing ledger, for callers that only read.
    ///
    /// - Throws: `StoreError.unusable` if the file is missing.
    public convenience init(existing path: String) throws(StoreError) {
        guard FileManager.default.fileExists(atPath: path) else { throw .unusable("\(path): no ledger exists") }
        try self.init(path: path)
    }

    /// Returns true if the file exists with the current version, so that opening it writes nothing.
    package static func isUpToDate(_ path: String) throws(StoreError) -> Bool { try LedgerSchema.file(path).isUpToDate() }
}

extension SQLiteLedger {
    package func complete() async throws { try await completeFile() }
}
