import GRDB
import GRDBSQLite

/// SQLite starts a log again from its beginning only if no reader uses it at the time of a commit. Under constant reads that time never
/// comes, although each checkpoint copies the whole log. A checkpoint with `RESTART` waits for the readers instead: new readers read from
/// the main file, so the wait is as long as the longest read.
struct WriteAheadLogLimit {
    private static let frames: UInt32 = 16_384
    private static let step: UInt32 = 4_096
    /// The limit of the wait for readers, in milliseconds.
    private static let timeout: Int32 = 250

    private var next = frames

    /// Call it on the writing connection, outside a transaction.
    mutating func enforce(on pool: DatabasePool, _ counter: WALChangeCounter) {
        let frames = counter.frames
        guard frames >= next else {
            if frames < Self.frames { next = Self.frames }
            return
        }
        next = frames &+ Self.step
        _ = try? pool.writeWithoutTransaction { database in
            sqlite3_busy_timeout(database.sqliteConnection, Self.timeout)
            _ = try database.checkpoint(.restart)
        }
    }
}
