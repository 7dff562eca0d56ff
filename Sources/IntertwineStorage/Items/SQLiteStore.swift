import GRDB
public import IntertwineItems
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
public final class SQLiteStore: FeedStore {
    /// The open file at the path, with its connections.
    private struct Opened: Sendable {
        // The read connections. They are declared before the pool, because the writing connection must close last.
        let connections: ReadConnections
        let pool: DatabasePool
        let commits: WALChangeCounter
        let file: FileIdentity

        init(_ path: String) throws(StoreError) {
            pool = try ItemSchema.file(path).open(SQLiteStore.configuration)
            connections = ReadConnections(path, busyTimeout: SQLiteStore.busyTimeout, pragmas: SQLiteStore.pragmas)
            do {
                try pool.syncCommits()
                try connections.read(Self.validate)
                commits = try WALChangeCounter(pool)
                file = try FileIdentity(path)
                connections.report(to: file.integrity)
            } catch let error as StoreError {
                throw error
            } catch {
                throw .unusable("\(path): is corrupt: \(error)")
            }
        }

        /// Reads both ends of both streams, which detects a file that was truncated or overwritten.
        static func validate(_ database: any SQLConnection) throws {
            let snapshot = SQLiteSnapshot(database: database)
            for stream in [StreamID.content, .advertisements] {
                _ = try snapshot.items(in: stream, .forward, of: nil, limit: 1)
                _ = try snapshot.items(in: stream, .backward, of: nil, limit: 1)
            }
        }
    }

    private struct State {
        var opened: Opened
        var watch = FileReplacementMonitor()
        var log = LogGuard()
        /// The number of times that another file has replaced this one.
        var successions: UInt64 = 0
    }

    private let state: Mutex<State>
    let threads: ReaderPool
    let check = FileCheck(from: [.min, .min])
    /// The order of each section from the last call of ``arrange(_:willWrite:)``. A section without an entry is in order of positions.
    let orders = Mutex<[StreamID: SectionSort]>([:])
    private let writes = Mutex<WriteQueue?>(nil)
    private let history = ChangeLog()

    /// Opens the store, and creates it if it is missing.
    ///
    /// - Throws: `StoreError.unusable` with one line that names the file and the reason; the file is then unchanged.
    public init(path: String, reading limits: ReadLimits = ReadLimits()) throws(StoreError) {
        state = Mutex(State(opened: try Opened(path)))
        threads = ReaderPool(limits)
    }

    /// The identity of the open file.
    var file: FileIdentity { state.withLock { $0.opened.file } }

    /// The connection pool for all writes.
    var pool: DatabasePool { state.withLock { $0.opened.pool } }

    /// The connections for all reads, which any thread can use.
    var connections: ReadConnections { state.withLock { $0.opened.connections } }

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
        let commits = writes.withLock { writes in
            let commits =
                writes
                ?? WriteQueue(
                    pool: { [weak self] in
                        guard let self else { throw StoreError.unavailable("the store is closed") }
                        try checkFile()
                        return pool
                    }, check: { [weak self] in try self?.checkEnds() }, version: { [weak self] in self?.version }, history: history)
            writes = commits
            return commits
        }
        return try await StoreError.wrapping {
            do {
                return try await commits.write(body)
            } catch {
                file.integrity.note(error)
                throw error
            }
        }
    }

    /// Checks the file's identity and both ends of the file.
    private func checkEnds() throws {
        let opened = state.withLock { $0.opened }
        try? opened.connections.read { opened.file.integrity.look($0, opened.commits) }
        try checkFile()
    }

    private func checkFile() throws(StoreError) {
        let file = file
        if let fault = file.error { throw .unavailable("\(file.path): \(fault)") }
    }

    /// Checks whether the file at its path is unchanged, and opens a new file that replaced it.
    ///
    /// - Returns: the change since the last check. Call it periodically, by one caller at a time; it blocks.
    package func checkForReplacement() -> FileChange? {
        try? checkEnds()
        var (watch, file) = state.withLock { ($0.watch, $0.opened.file) }
        let change = watch.check(file: file) {
            let opened = try Opened(file.path)
            state.withLock { state in
                state.opened = opened
                state.log = LogGuard()
                state.successions += 1
            }
            check.restart()
        }
        state.withLock { $0.watch = watch }
        guardLog()
        return change
    }

    /// Makes the loss of the write-ahead log detectable at the next start. Call it by one caller at a time; it blocks.
    package func guardLog() {
        var (log, counter) = state.withLock { ($0.log, $0.opened.commits) }
        log.look(counter) { try maintain($0) }
        state.withLock { $0.log = log }
    }

    /// Runs `body`, which changes no item, on the writing connection outside a transaction. Its commits are durable.
    /// The wait for a lock is short.
    func maintain<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try checkFile()
        return try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA busy_timeout = 100")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Int(Self.busyTimeout * 1_000))") }
            return try body(database)
        }
    }

    /// Checks that the items can be read: the file exists, and both ends of its streams are intact.
    ///
    /// - Throws: `StoreError.unavailable(_:)` if the file is missing or damaged; `StoreError.overloaded` if no reader is
    ///   free.
    public func checkReady() async throws {
        try checkFile()
        let connections = connections
        try await StoreError.wrapping { try await threads.run(for: .request) { try connections.readAfresh(Opened.validate) } }
    }

    /// The time in seconds that a write waits while another process keeps the file locked.
    private static let busyTimeout = 5.0
    /// The cache is 4 MiB for each connection. The file is not memory-mapped, because its pages would count as the process's memory.
    private static let pragmas = "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -4096; PRAGMA mmap_size = 0"

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "intertwine.items"
        configuration.prepareDatabase { try $0.execute(sql: pragmas) }
        return configuration
    }

    /// The version of the file, which changes with each commit of any process, and with each replacement of the file.
    public var version: StoreVersion {
        let (commits, successions) = state.withLock { ($0.opened.commits, $0.successions) }
        let version = commits.version
        // Another file may have an equal version, so the number of replacements is part of the version.
        return StoreVersion(high: version.high ^ successions << 32, low: version.low)
    }

    /// Returns true if a page with these dependencies is equal in two versions: only other items were updated in place between them.
    ///
    /// The store records a limited number of commits. For versions outside this record, the result is false.
    public func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool {
        history.isUntouched(extent, from: old, to: new)
    }

    /// Copies the write-ahead log into the file, so that the file alone contains all data.
    ///
    /// - Throws: `StoreError.unavailable` if another process prevents it.
    public func completeFile() async throws {
        try await StoreError.wrapping {
            try checkFile()
            try pool.completeFile()
        }
    }

    /// Reads from one snapshot on a reader thread, and waits for a free thread if necessary.
    ///
    /// - Throws: The error of `body`; `StoreError.overloaded` if the queue is full or the queue timeout elapses;
    ///   `StoreError.unavailable(_:)`.
    public func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) async throws -> Value {
        try await reading(for: purpose) { try body(SQLiteSnapshot(database: $0)) }
    }

    /// Reads from one snapshot on a reader thread, and calls a completion, for callers without a task.
    ///
    /// - Parameter completion: Called once, on any thread.
    /// - Returns: A function that cancels the read if it has not begun.
    public func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value,
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
