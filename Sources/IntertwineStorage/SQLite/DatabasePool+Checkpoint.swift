import GRDB

extension DatabasePool {
    /// Has every commit of the writing connection be on disk before it returns. GRDB sets NORMAL with WAL, with which the last commits go
    /// with the power.
    func syncCommits() throws {
        try writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    }

    /// Copies the write-ahead log into the database file and empties it, so that the file alone is complete.
    ///
    /// - Throws: `SQLITE_BUSY` where another process uses the database and does not pause within a second; what could be copied is.
    func completeFile() throws {
        try writeWithoutTransaction { database in
            let timeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = 1000")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
            _ = try database.checkpoint(.truncate)
        }
    }
}
