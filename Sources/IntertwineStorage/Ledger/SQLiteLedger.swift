import Foundation
import GRDB
package import IntertwineFeed
import IntertwinePrimitives
import Synchronization

package final class SQLiteLedger: Sendable {
    // The read connections are declared before the commits, because the writing connection must close last.
    let connections: ReadConnections
    package let file: ServedFile
    let threads: ReaderPool
    package let commits: GroupCommit<SQLiteGroupWriter>
    package let now: @Sendable () -> Int64

    package init(
        path: String, waiting: Int = 4_096, group: Int = 512, lockTimeout: Double = 2, reading reads: ReadLimits = ReadLimits(),
        now: @escaping @Sendable () -> Int64 = SQLiteLedger.systemTime
    ) throws(StoreError) {
        self.now = now
        let limits = GroupLimits(waiting: waiting, group: max(1, group), maxQueueTime: .seconds(lockTimeout))
        threads = ReaderPool(reads)
        let pool = try LedgerSchema.file(path).open(Self.configuration(lockTimeout))
        file = try ServedFile(path, keepsLog: true)
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

    package func checkReady() async throws {
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
    package static let systemTime: @Sendable () -> Int64 = WallClock.now

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

    /// Copies the write-ahead log into the file, so that the file alone contains all commits so far.
    package func completeFile() async throws {
        try await flushCounts()
        try await completeLog(waiting: 1_000)
    }

    func completeLog(waiting milliseconds: Int) async throws {
        try await StoreError.wrapping { try await commits.inTurn { try $0.pool.completeFile(waiting: milliseconds) } }
    }

    func read<Value: Sendable>(
        for purpose: ReadPurpose = .request, _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping { try await threads.run(for: purpose) { try connections.read(body) } }
    }

    package var readStatistics: ReadStatistics { threads.statistics }
}

extension SQLiteLedger {
    package convenience init(existing path: String) throws(StoreError) {
        guard FileManager.default.fileExists(atPath: path) else { throw .unusable("\(path): no ledger exists") }
        try self.init(path: path)
    }

    /// Returns true if the file exists with the current version, so that opening it writes nothing.
    package static func isUpToDate(_ path: String) throws(StoreError) -> Bool { try LedgerSchema.file(path).isUpToDate() }
}

extension SQLiteLedger {
    package func complete() async throws { try await completeFile() }
}
