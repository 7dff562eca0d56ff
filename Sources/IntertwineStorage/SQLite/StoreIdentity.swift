import GRDB
import IntertwineFeed

/// Which store a database file belongs to, and how far that store was when the file was last served. A row of the file itself.
struct StoreIdentity: Equatable {
    /// The same in all files of a store.
    var store: String
    /// How often the store was started and stopped. The same in all files.
    var generation: Int64
    /// The generation that is being written, until all files have it.
    var next: Int64?
    /// Names the signing key of the data folder; nil if there was none.
    var key: String?
    /// Whether later commits stand in the write-ahead log. Only ever true in the main file, see ``expectLog(_:)``.
    var expectsLog = false

    /// Idempotent, as a file may have been taken back to a former version by hand.
    static func migrate(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS store_identity (
                    only INTEGER PRIMARY KEY CHECK (only = 1),
                    store TEXT NOT NULL,        -- the same in all files of a store
                    generation INTEGER NOT NULL, -- starts and stops
                    next INTEGER,               -- the generation that is being written
                    key TEXT,                   -- names the signing key
                    expects_log INTEGER NOT NULL -- 1 in the main file alone, while the -wal file has later commits
                )
                """)
    }

    /// The identity of a file; nil if it was never served.
    static func read(_ database: Database) throws -> StoreIdentity? {
        guard try database.tableExists("store_identity") else { return nil }
        let statement = try SQLStatement(
            database, "SELECT store, generation, next, key, expects_log FROM store_identity WHERE only = 1")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return StoreIdentity(
            store: statement.text(0), generation: statement.integer(1), next: statement.isNull(2) ? nil : statement.integer(2),
            key: statement.optionalText(3), expectsLog: statement.integer(4) == 1)
    }

    func write(_ database: Database) throws {
        let statement = try SQLStatement(
            database,
            "INSERT OR REPLACE INTO store_identity (only, store, generation, next, key, expects_log) VALUES (1, ?1, ?2, ?3, ?4, ?5)")
        try statement.bind(1, store)
        try statement.bind(2, generation)
        try statement.bind(3, next)
        try statement.bind(4, key)
        try statement.bind(5, expectsLog ? 1 : 0 as Int64)
        try statement.run()
    }

    /// Notes in the main file that later commits stand in the write-ahead log, and takes that back in the log itself. So the note holds only
    /// if the log is lost: whoever recovers it, or copies it into the main file, removes the note too.
    ///
    /// To be called outside a transaction, and again once the log has been copied into the main file.
    ///
    /// - Returns: false if the file was never served.
    /// - Throws: `SQLITE_BUSY` if another process writes, or a reader is in the way.
    static func expectLog(_ database: Database) throws -> Bool {
        guard var identity = try read(database) else { return false }
        identity.expectsLog = true
        try identity.write(database)
        identity.expectsLog = false
        do {
            try database.checkpoint(.full)
        } catch {
            try? identity.write(database)
            throw error
        }
        try identity.write(database)
        return true
    }

    /// Before the write-ahead log goes: nothing is expected of it.
    static func expectNoLog(_ database: Database) throws {
        guard var identity = try read(database), identity.expectsLog else { return }
        identity.expectsLog = false
        try identity.write(database)
    }
}

/// Sees to it that the loss of a write-ahead log would show. Confined to whoever looks at the file.
struct LogGuard {
    /// Where the log stood when the main file was last told to expect it.
    private var expected: WALChangeCounter.LogPosition?
    private var nextAttempt = ContinuousClock.now

    private static let interval = Duration.seconds(10)

    /// Has the main file expect the log, unless it does.
    ///
    /// - Parameter write: runs what it is given on the writing connection. What it throws is tried again later.
    mutating func look(_ commits: WALChangeCounter, write: ((Database) throws -> Bool) throws -> Bool) {
        if let expected, commits.log?.continues(expected) == true { return }
        guard nextAttempt <= .now else { return }
        nextAttempt = .now + Self.interval
        expected = nil
        if (try? write(StoreIdentity.expectLog)) == true { expected = commits.log }
    }
}
