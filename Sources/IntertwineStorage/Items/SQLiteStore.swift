import GRDB
package import IntertwineFeed
import Synchronization

/// An item store in an SQLite file: the embedded store.
/// One writer and several readers run at a time, in any number of processes (WAL).
package final class SQLiteStore: FeedStore {
    // The read connections are declared before the pool, because the writing connection must close last.
    let connections: ReadConnections
    let pool: DatabasePool
    private let commits: WALChangeCounter
    package let file: ServedFile
    let threads: ReaderPool
    let orders = Mutex<[StreamID: SectionSort]>([:])
    private let writes: WriteQueue
    private let history = ChangeLog()

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

    private static func validate(_ database: any SQLConnection) throws {
        let snapshot = SQLiteSnapshot(database: database)
        for stream in [StreamID.content, .advertisements] {
            _ = try snapshot.items(in: stream, .forward, of: nil, limit: 1)
            _ = try snapshot.items(in: stream, .backward, of: nil, limit: 1)
        }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { database, note in
            note.doOther()
            return try body(database)
        }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database, inout ChangeLogEntry) throws -> Value) async throws -> Value {
        try await StoreError.wrapping { try await writes.write(body) }
    }

    func writeBlocking<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try file.writing { try pool.write(body) }
    }

    package func storageChange() -> FileChange? { file.change() }

    package func checkReady() async throws {
        let connections = connections
        try await StoreError.wrapping { try await threads.run(for: .request) { try connections.readAfresh(Self.validate) } }
    }

    /// The time in seconds that a write waits while another process keeps the file locked.
    private static let busyTimeout = 5.0
    /// The file is not memory-mapped, because its pages would count as the process's memory.
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

    package var version: StoreVersion { commits.version }

    package func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool {
        history.isUntouched(extent, from: old, to: new)
    }

    /// Copies the write-ahead log into the file, so that the file alone contains all data.
    package func completeFile() async throws {
        try await StoreError.wrapping {
            try file.check()
            try pool.completeFile()
        }
    }

    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) async throws -> Value {
        try await reading(for: purpose) { try body(SQLiteSnapshot(database: $0)) }
    }

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

    func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping { try await threads.run(for: purpose) { try connections.read(body) } }
    }

    package var readStatistics: ReadStatistics { threads.statistics }
}
