import GRDB

/// The identity of the store that a database file belongs to, with the store's generation when the file was last served. A row of the file.
struct StoreIdentity: Equatable {
    /// The identifier of the store, equal in all of its files.
    var store: String
    /// The number of starts and stops of the store, equal in all of its files.
    var generation: Int64
    /// The generation that is being written, until all files have it.
    var next: Int64?
    /// The name of the signing key in the data folder; nil if there was none.
    var key: String?
    /// A Boolean value indicating whether later commits are in the write-ahead log. Only ever true in the main file, see ``expectLog(_:)``.
    var expectsLog = false

    /// Creates the table. The migration is idempotent, because a file may have been reset to an earlier version by hand.
    static func migrate(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS store_identity (
                    only INTEGER PRIMARY KEY CHECK (only = 1),
                    store TEXT NOT NULL,        -- equal in all files of a store
                    generation INTEGER NOT NULL, -- the number of starts and stops
                    next INTEGER,               -- the generation of an incomplete write
                    key TEXT,                   -- the name of the signing key
                    expects_log INTEGER NOT NULL -- 1 if only the -wal file has the last commits
                )
                """)
    }

    /// Returns the identity of a file; nil if it was never served.
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

    /// Records in the main file that later commits are in the write-ahead log, and clears the record in the log itself.
    ///
    /// The record therefore remains visible only if the log is lost: a recovery or a checkpoint of the log removes it.
    /// Call it outside a transaction, and again after each checkpoint of the whole log.
    ///
    /// - Returns: false if the file was never served.
    /// - Throws: `SQLITE_BUSY` if another process writes, or a reader blocks the checkpoint.
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

    /// Clears the record before the write-ahead log is removed.
    static func expectNoLog(_ database: Database) throws {
        guard var identity = try read(database), identity.expectsLog else { return }
        identity.expectsLog = false
        try identity.write(database)
    }
}

/// A guard that makes the loss of a write-ahead log detectable. Confined to the code that monitors the file.
struct LogGuard {
    /// The position of the log when the main file last recorded it.
    private var expected: WALChangeCounter.LogPosition?
    private var nextAttempt = ContinuousClock.now

    private static let interval = Duration.seconds(10)

    /// Records in the main file that a log is expected, if it is not recorded yet.
    ///
    /// - Parameter write: runs a function on the writing connection. If it throws, a later call tries again.
    mutating func look(_ commits: WALChangeCounter, write: ((Database) throws -> Bool) throws -> Bool) {
        if let expected, commits.log?.continues(expected) == true { return }
        guard nextAttempt <= .now else { return }
        nextAttempt = .now + Self.interval
        expected = nil
        if (try? write(StoreIdentity.expectLog)) == true { expected = commits.log }
    }
}
