import GRDB
public import IntertwineFeed
import Synchronization

/// The items in an SQLite file: the embedded store.
///
/// One writer and several readers at a time, in any number of processes (WAL). Reads have threads of their own, a bounded number, and wait for
/// one for a bounded time. Memory does not grow with the store: each connection keeps a bounded cache, and SQLite maps nothing of the file.
public final class SQLiteStore: FeedStore {
    /// What stands at the path, opened.
    private struct Opened: Sendable {
        // Before the pool: the connection that writes is to be the last to close.
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
                throw .unusable("\(path): is damaged: \(error)")
            }
        }

        /// Reading both ends of both lanes shows a file that was cut off, or written over.
        static func validate(_ database: any SQLConnection) throws {
            let snapshot = SQLiteSnapshot(database: database)
            for lane in [StreamID.content, .advertisements] {
                _ = try snapshot.items(in: lane, .forward, of: nil, limit: 1)
                _ = try snapshot.items(in: lane, .backward, of: nil, limit: 1)
            }
        }
    }

    private struct State {
        var opened: Opened
        var watch = FileReplacementMonitor()
        var log = LogGuard()
        /// How often another file has taken the place.
        var successions: UInt64 = 0
    }

    private let state: Mutex<State>
    let threads: ReaderPool
    let check = FileCheck(from: [.min, .min])
    /// How the sections are shown, as they were last arranged; in the order of positions where nothing is said.
    let orders = Mutex<[StreamID: SectionSort]>([:])
    private let writes = Mutex<WriteQueue?>(nil)
    private let history = ChangeLog()

    /// Opens the store, and makes it where there is none.
    ///
    /// - Throws: `StoreError.unusable` with one line that names the file and the reason; the file is then as it was.
    public init(path: String, reading limits: ReadLimits = ReadLimits()) throws(StoreError) {
        state = Mutex(State(opened: try Opened(path)))
        threads = ReaderPool(limits)
    }

    /// The file that is open.
    var file: FileIdentity { state.withLock { $0.opened.file } }

    /// Where everything is written.
    var pool: DatabasePool { state.withLock { $0.opened.pool } }

    /// Where everything is read, on whatever thread asks.
    var connections: ReadConnections { state.withLock { $0.opened.connections } }

    /// One write of several that may share a transaction; on disk when it returns.
    ///
    /// - Throws: what `body` throws, and nothing of it is kept; `StoreError.unavailable`.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { database, note in
            note.doOther()
            return try body(database)
        }
    }

    /// The same for one that tells which items it replaces in their places, or that it does more.
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

    /// Looks at the ends of the file as well.
    private func checkEnds() throws {
        let opened = state.withLock { $0.opened }
        try? opened.connections.read { opened.file.integrity.look($0, opened.commits) }
        try checkFile()
    }

    private func checkFile() throws(StoreError) {
        let file = file
        if let fault = file.error { throw .unavailable("\(file.path): \(fault)") }
    }

    /// Looks whether the file is still the one that stands at its path. Where another has come, that is opened.
    ///
    /// - Returns: what has changed since the last look. To be called now and then, by one caller at a time; it blocks.
    package func checkForReplacement() -> FileChange? {
        try? checkEnds()
        var (watch, file) = state.withLock { ($0.watch, $0.opened.file) }
        let news = watch.check(file: file) {
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
        return news
    }

    /// Has the loss of the write-ahead log show at the next start. To be called by one caller at a time; it blocks.
    package func guardLog() {
        var (log, counter) = state.withLock { ($0.log, $0.opened.commits) }
        log.look(counter) { try maintain($0) }
        state.withLock { $0.log = log }
    }

    /// Runs something that changes no item on the writing connection, outside a transaction; on disk when it returns. Waits for a lock
    /// for a moment only.
    func maintain<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try checkFile()
        return try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA busy_timeout = 100")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Int(Self.busyTimeout * 1_000))") }
            return try body(database)
        }
    }

    public func checkReady() async throws {
        try checkFile()
        let connections = connections
        try await StoreError.wrapping { try await threads.run(for: .request) { try connections.readAfresh(Opened.validate) } }
    }

    /// Seconds to wait while another process keeps the file locked.
    private static let busyTimeout = 5.0
    /// 4 MiB for each connection; no memory map, whose pages would count as the process's own.
    private static let pragmas = "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -4096; PRAGMA mmap_size = 0"

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeout)
        configuration.label = "intertwine.items"
        configuration.prepareDatabase { try $0.execute(sql: pragmas) }
        return configuration
    }

    public var version: StoreVersion {
        let (commits, successions) = state.withLock { ($0.opened.commits, $0.successions) }
        let version = commits.version
        // Another file may have come as far as the one before it.
        return StoreVersion(high: version.high ^ successions << 32, low: version.low)
    }

    public func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool {
        history.isUntouched(extent, from: old, to: new)
    }

    /// Makes the file alone hold everything; without it, part of that may stand in the `-wal` file beside it.
    ///
    /// - Throws: `StoreError.unavailable` where another process is in the way.
    public func completeFile() async throws {
        try await StoreError.wrapping {
            try checkFile()
            try pool.completeFile()
        }
    }

    public func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) async throws -> Value {
        try await reading(for: purpose) { try body(SQLiteSnapshot(database: $0)) }
    }

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

    /// The same for what no snapshot tells.
    func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping { try await threads.run(for: purpose) { try connections.read(body) } }
    }

    /// How reading goes.
    package var readStatistics: ReadStatistics { threads.statistics }
}
