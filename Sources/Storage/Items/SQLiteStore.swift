public import Feed
import GRDB
import Synchronization

/// The items in an SQLite file: the embedded store.
///
/// One writer and several readers at a time, in any number of processes (WAL). Memory does not grow with the store: each connection keeps
/// a bounded cache, and SQLite maps nothing of the file.
public final class SQLiteStore: FeedStore {
    let pool: DatabasePool
    private let commits: CommitCounter
    /// How the sections are shown, as they were last arranged; in the order of positions where nothing is said.
    let orders = Mutex<[Lane: SectionOrder]>([:])

    /// Opens the store, and makes it where there is none.
    ///
    /// - Throws: `StoreError.unusable` with one line that names the file and the reason; the file is then as it was.
    public init(path: String) throws(StoreError) {
        let pool = try ItemSchema.file(path).open(Self.configuration)
        do {
            // Reading both ends of both lanes shows a file that was cut off.
            try pool.read { database in
                let snapshot = SQLiteSnapshot(database: database)
                for lane in [Lane.content, .advertisements] {
                    _ = try snapshot.items(in: lane, .forward, of: nil, limit: 1)
                    _ = try snapshot.items(in: lane, .backward, of: nil, limit: 1)
                }
            }
            commits = try CommitCounter(pool)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unusable("\(path): is damaged: \(error)")
        }
        self.pool = pool
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 4
        configuration.label = "intertwine.items"
        configuration.prepareDatabase { database in
            // 4 MiB for each connection; no memory map, whose pages would count as the process's own.
            try database.execute(sql: "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -4096; PRAGMA mmap_size = 0")
        }
        return configuration
    }

    public var version: StoreVersion { commits.version }

    /// Makes the file alone hold everything; without it, part of that may stand in the `-wal` file beside it.
    ///
    /// - Throws: `StoreError.unavailable` where another process is in the way.
    public func completeFile() async throws {
        try await StoreError.wrapping { try pool.completeFile() }
    }

    public func read<Value: Sendable>(_ body: @escaping @Sendable (any FeedSnapshot) throws -> Value) async throws -> Value {
        try await StoreError.wrapping { try readHere(body) }
    }

    /// Reads on the caller's thread. A page is some dozen microseconds of memory look-ups: two changes of thread would cost as much, and so
    /// would the statements with which GRDB begins and ends a transaction of its own, prepared anew each time.
    private func readHere<Value>(_ body: (any FeedSnapshot) throws -> Value) throws -> Value {
        try pool.unsafeRead { database in
            try SQLStatement(database, "BEGIN").run()
            do {
                let value = try body(SQLiteSnapshot(database: database))
                try SQLStatement(database, "COMMIT").run()
                return value
            } catch {
                // If this fails there is no transaction any more.
                try? SQLStatement(database, "ROLLBACK").run()
                throw error
            }
        }
    }
}
