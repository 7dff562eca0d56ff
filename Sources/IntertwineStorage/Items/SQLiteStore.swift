import GRDB
package import IntertwineFeed
import Synchronization

/// An item store in an SQLite file: the embedded store.
///
/// ```swift
/// let store = try SQLiteStore(path: "items.sqlite")
/// let page = try await store.read(for: .request) { snapshot in
///     try snapshot.items(in: .content, .forward, of: nil, limit: 20)
/// }
/// ```
///
/// One writer and several readers run at a time, in any number of processes (WAL). Reads run on a limited number of separate threads, and wait
/// for one for a limited time. Memory does not grow with the store: each connection has a limited cache, and the file is not memory-mapped.
package final class SQLiteStore: FeedStore {
    // The read connections are declared before the pool, because the writing connection must close last.
    /// The connections for all reads, which any thread can use.
    let connections: ReadConnections
    /// The connection pool for all writes.
    let pool: DatabasePool
    private let commits: WALChangeCounter
    package let file: ServedFile
    let threads: ReaderPool
    /// The order of each section from the last call of ``arrange(_:willWrite:)``. A section without an entry is in order of positions.
    let orders = Mutex<[StreamID: SectionSort]>([:])
    private let writes: WriteQueue
    private let history = ChangeLog()

    /// Opens the store, and creates it if it is missing.
    ///
    /// - Throws: `StoreError.unusable` with one line that names the file and the reason; the file is then unchanged.
    package init(path: String, reading limits: ReadLimits = ReadLimits()) throws(StoreError) {
        threads = ReaderPool(limits)
        pool = try ItemSchema.file(path).open(Self.configuration)
        file = try ServedFile(path)
        connections = ReadConnections(file, busyTimeout: Self.busyTimeout, pragmas: Self.pragmas)
        do {
            try pool.syncCommits()
            try connections.read(Self.validate)
            let commits = try WALChangeCounter(pool)
            self.commits = commits
            writes = WriteQueue(pool, file, version: { commits.version }, history: history)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unusable("\(path): is corrupt: \(error)")
        }
    }

    /// Reads both ends of both streams, which detects a file that was truncated or overwritten.
    private static func validate(_ database: any SQLConnection) throws {
        let snapshot = SQLiteSnapshot(database: database)
        for stream in [StreamID.content, .advertisements] {
            _ = try snapshot.items(in: stream, .forward, of: nil, limit: 1)
            _ = try snapshot.items(in: stream, .backward, of: nil, limit: 1)
        }
    }

    /// Performs a write that may share a transaction with other writes. It is durable when it returns.
    ///
    /// - Throws: the error of `body`, whose changes are rolled back; `StoreError.unavailable`.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { database, note in
            note.doOther()
            return try body(database)
        }
    }

    /// Performs a write as ``write(_:)`` does, and records the items that it replaces in place, or that it makes other changes.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database, inout ChangeLogEntry) throws -> Value) async throws -> Value {
        try await StoreError.wrapping { try await writes.write(body) }
    }

    /// Runs a write on the caller's thread, which waits for the writes that run before it. It is durable when it returns.
    func writeBlocking<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try file.writing { try pool.write(body) }
    }

    package func storageChange() -> FileChange? { file.change() }

    /// Checks that the items can be read: the file exists, and both ends of its streams are intact.
    ///
    /// - Throws: `StoreError.unavailable(_:)` if the file is missing or damaged; `StoreError.overloaded` if no reader is
    ///   free.
    package func checkReady() async throws {
        let connections = connections
        try await StoreError.wrapping { try await threads.run(for: .request) { try connections.readAfresh(Self.validate) } }
    }

    /// The time in seconds that a write waits while another process keeps the file locked.
    private static let busyTimeout = 5.0
    /// The cache is 4 MiB for each connection. The file is not memory-mapped, because its pages would count as the process's memory.
    private static let pragmas = "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -4096; PRAGMA mmap_size = 0"

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "intertwine.items"
        // A transaction that a disk error leaves open is ended by the next one, instead of a trap in GRDB.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { try $0.execute(sql: pragmas) }
        return configuration
    }

    /// The version of the file, which changes with each commit of any process.
    package var version: StoreVersion { commits.version }

    /// Returns true if a page with these dependencies is equal in two versions: only other items were updated in place between them.
    ///
    /// The store records a limited number of commits. For versions outside this record, the result is false.
    package func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool {
        history.isUntouched(extent, from: old, to: new)
    }

    /// Copies the write-ahead log into the file, so that the file alone contains all data.
    ///
    /// - Throws: `StoreError.unavailable` if another process prevents it.
    package func completeFile() async throws {
        try await StoreError.wrapping {
            try file.check()
            try pool.completeFile()
        }
    }

    /// Reads from one snapshot on a reader thread, and waits for a free thread if necessary.
    ///
    /// - Throws: The error of `body`; `StoreError.overloaded` if the queue is full or the queue timeout elapses;
    ///   `StoreError.unavailable(_:)`.
    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) async throws -> Value {
        try await reading(for: purpose) { try body(SQLiteSnapshot(database: $0)) }
    }

    /// Reads from one snapshot on a reader thread, and calls a completion, for callers without a task.
    ///
    /// - Parameter completion: Called once, on any thread.
    /// - Returns: A function that cancels the read if it has not begun.
    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let connections = connections
        return threads.run(
            for: purpose,
            {
                do {
                    return try connections.read { try body(SQLiteSnapshot(database: $0)) }
                } catch let error as DatabaseError {
                    throw StoreError(error)
                }
            }, completion: completion)
    }

    /// Reads from the database directly, for queries that a snapshot does not offer.
    func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping { try await threads.run(for: purpose) { try connections.read(body) } }
    }

    /// Statistics of reads.
    package var readStatistics: ReadStatistics { threads.statistics }
}
