import GRDB
import GRDBSQLite

/// A limit on the size of a write-ahead log.
///
/// SQLite starts a log again from its beginning only if no reader uses it at the time of a commit. Under constant reads that time never
/// comes, although each checkpoint copies the whole log. A checkpoint with `RESTART` waits for the readers instead: new readers read from
/// the main file, so the wait is as long as the longest read.
struct WriteAheadLogLimit {
    /// The number of frames above which the log is restarted: 64 MiB with pages of 4 KiB.
    private static let frames: UInt32 = 16_384
    /// The number of further frames after which a failed attempt is repeated.
    private static let step: UInt32 = 4_096
    /// The limit of the wait for readers, in milliseconds.
    private static let timeout: Int32 = 250

    private var next = frames

    /// Restarts the log if it exceeds the limit. Call it on the writing connection, outside a transaction. A longer read prevents the restart,
    /// and the log then grows until a later call.
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
