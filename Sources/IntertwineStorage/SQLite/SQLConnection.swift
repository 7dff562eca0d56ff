import GRDB
import GRDBSQLite

/// A connection on which statements are prepared: GRDB's for writes, or a ``ReadConnection``.
protocol SQLConnection: AnyObject {
    /// SQLite's connection; nil after it is closed.
    var sqliteHandle: OpaquePointer? { get }

    func prepared(_ sql: String) throws -> (statement: OpaquePointer, keeper: AnyObject)
}

extension Database: SQLConnection {
    var sqliteHandle: OpaquePointer? { sqliteConnection }

    func prepared(_ sql: String) throws -> (statement: OpaquePointer, keeper: AnyObject) {
        let statement = try cachedStatement(sql: sql)
        return (statement.sqliteStatement, statement)
    }
}

/// `@unchecked Sendable`: it is used by one thread at a time, which ``ReadConnections`` ensures.
/// Why: a read through GRDB costs two hops between queues and several look-ups in thread-local memory. That is half the cost of the page of
/// encoded cells that is read.
final class ReadConnection: SQLConnection, @unchecked Sendable {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    init(_ path: String, busyTimeout: Double, pragmas: String) throws {
        var opened: OpaquePointer?
        // SQLite needs no mutex, because only one thread uses the connection at a time.
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Int32(clamping: Int(busyTimeout * 1_000)))
        guard sqlite3_exec(handle, pragmas, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    var sqliteHandle: OpaquePointer? { handle }

    func interrupt() { sqlite3_interrupt(handle) }

    var isInsideTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    func prepared(_ sql: String) throws -> (statement: OpaquePointer, keeper: AnyObject) {
        if let statement = statements[sql] { return (statement, self) }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK, let statement else {
            throw failure
        }
        statements[sql] = statement
        return (statement, self)
    }

    private var failure: DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(handle)), message: sqlite3_errmsg(handle).map { String(cString: $0) })
    }
}
