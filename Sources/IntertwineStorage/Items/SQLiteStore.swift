internal import Dispatch
import GRDB
package import IntertwineFeed
package import IntertwineStorageCore
import Synchronization

/// An item store in an SQLite file: the embedded store.
/// One writer and several readers run at a time, in any number of processes (WAL).
package final class SQLiteStore: ItemStore {
    // The read connections are declared before the pool, because the writing connection must close last.
    let connections: ReadConnections
    let pool: DatabasePool
    private let commits: WALChangeCounter
    package let file: ServedFile
    let threads: ReaderPool
    private let hasIndex = Atomic(false)
    private let sectionOrders = Mutex<[StreamID: SectionSort]>([:])
    private let writes = DispatchQueue(label: "intertwine.items.write")
    private let waiting = Atomic(0)
    private let history = ChangeLog()

    private static let mostWaiting = 4_096

    package init(path: String, reading limits: ReadLimits = ReadLimits()) throws(StoreError) {
        threads = ReaderPool(limits)
        pool = try ItemSchema.file(path).open(Self.configuration)
        file = try ServedFile(path, keepsLog: true)
        connections = ReadConnections(file, busyTimeout: Self.busyTimeout, pragmas: Self.pragmas)
        do {
            try pool.syncCommits()
            try connections.read(Self.validate)
            commits = try WALChangeCounter(pool)
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

    package var orders: [StreamID: SectionSort] {
        get { sectionOrders.withLock { $0 } }
        set { sectionOrders.withLock { $0 = newValue } }
    }

    package var isIndexed: Bool { hasIndex.load(ordering: .relaxed) }

    package func createIndex() async throws {
        try await StoreError.wrapping {
            try await withCheckedThrowingContinuation { continuation in
                writes.async { [self] in
                    continuation.resume(
                        with: Result { try file.writing { try pool.writeWithoutTransaction(Self.createIndex) } })
                }
            }
        }
        hasIndex.store(true, ordering: .relaxed)
    }

    private static func createIndex(_ database: Database) throws {
        try database.inTransaction(.immediate) {
            let snapshot = SQLiteSnapshot(database: database)
            let known = try snapshot.integer("SELECT 1 FROM sqlite_schema WHERE name = 'item_entry'")
            if known == nil { try database.execute(sql: ItemIndex<SQLiteSnapshot>.creation) }
            try database.execute(sql: ItemIndex<SQLiteSnapshot>.terms)
            let outdated = try snapshot.integer(ItemIndex<SQLiteSnapshot>.isOutdated)
            if outdated != nil { try database.execute(sql: ItemIndex<SQLiteSnapshot>.words + ItemIndex<SQLiteSnapshot>.renewal) }
            return .commit
        }
    }

    package func writing<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteSnapshot) throws -> (Value, InPlaceUpdate?)
    ) async throws -> Value {
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.mostWaiting else { throw StoreError.overloaded }
        return try await StoreError.wrapping {
            try await withCheckedThrowingContinuation { continuation in
                writes.async { [self] in continuation.resume(with: Result { try write(body) }) }
            }
        }
    }

    package func arranging<Value>(_ body: (SQLiteSnapshot) throws -> Value) throws -> Value {
        try write { (try body($0), nil) }
    }

    private func write<Value>(_ body: (SQLiteSnapshot) throws -> (Value, InPlaceUpdate?)) throws -> Value {
        try file.writing {
            try pool.writeWithoutTransaction { database in
                var done: (result: (Value, InPlaceUpdate?), before: StoreVersion)?
                try database.inTransaction(.immediate) {
                    // The transaction holds the write lock, so no other process commits after this read of the version.
                    let before = version
                    done = (try body(SQLiteSnapshot(database: database)), before)
                    return .commit
                }
                guard let (result, before) = done else { throw StoreError.unavailable("the write was not performed") }
                history.record(result.1, from: before, to: version)
                return result.0
            }
        }
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
        try await reading(for: purpose) { try body($0) }
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

    package func reading<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (SQLiteSnapshot) throws -> Value
    ) async throws -> Value {
        let connections = connections
        return try await StoreError.wrapping {
            try await threads.run(for: purpose) { try connections.read { try body(SQLiteSnapshot(database: $0)) } }
        }
    }

    package func reading<Value>(_ body: (SQLiteSnapshot) throws -> Value) throws -> Value {
        try connections.read { try body(SQLiteSnapshot(database: $0)) }
    }

    package var readStatistics: ReadStatistics { threads.statistics }
}
