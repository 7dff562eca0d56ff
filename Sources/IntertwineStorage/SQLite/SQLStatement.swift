import GRDB
import GRDBSQLite
internal import IntertwineFeed
package import IntertwineStorageCore
import Synchronization

/// A prepared statement, bound and stepped by SQLite's own functions.
/// Why: GRDB's bindings box each value, which would cost imports and clicks millions of allocations.
package struct SQLStatement: SQLRow {
    private let pointer: OpaquePointer
    private let keeper: AnyObject

    #if DEBUG
        /// An observer of prepared statements, with which tests examine all query plans.
        /// Why a structure: a bare function is wrapped again each time it is taken out of a mutex.
        struct Observer: Sendable { let tell: @Sendable (any SQLConnection, String) -> Void }
        static let observer = Mutex<Observer?>(nil)
    #endif

    init(_ database: some SQLConnection, _ sql: String) throws {
        #if DEBUG
            if let observer = Self.observer.withLock({ $0 }) { observer.tell(database, sql) }
        #endif
        (pointer, keeper) = try database.prepared(sql)
    }

    func bind(_ values: [SQLValue], row: Int = 0) throws {
        for (index, value) in zip(Int32(1)..., values) {
            switch value {
            case .integer(let number): try bind(index, number)
            case .number(let number?): try bind(index, number)
            case .number(nil): try bind(index, Int64?.none)
            case .flag(let flag): try bind(index, Int64(flag ? 1 : 0))
            case .text(let text): try bind(index, text)
            case .utf8(let bytes): try bind(index, text: bytes)
            case .bytes(let bytes): try bind(index, blob: bytes)
            case .integers(let column): try bind(index, column[row])
            case .texts(let column): try bind(index, column[row])
            case .flags(let column): try bind(index, Int64(column[row] ? 1 : 0))
            case .blobs(let column): try bind(index, blob: column[row])
            case .documents(let column): try bind(index, text: column[row])
            }
        }
    }

    private static let empty: StaticString = ""

    /// SQLITE_TRANSIENT: SQLite copies the value before the call returns.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    func bind(_ index: Int32, _ value: Int64) throws {
        try check(sqlite3_bind_int64(pointer, index, value))
    }

    func bind(_ index: Int32, _ value: Int64?) throws {
        guard let value else { return try check(sqlite3_bind_null(pointer, index)) }
        try bind(index, value)
    }

    func bind(_ index: Int32, _ value: Double) throws {
        try check(sqlite3_bind_double(pointer, index, value))
    }

    func bind(_ index: Int32, _ value: String?) throws {
        guard let value else { return try check(sqlite3_bind_null(pointer, index)) }
        try SQLValue.withStored(value) { try bind(index, text: UnsafeRawBufferPointer($0)) }
    }

    func bind(_ index: Int32, text bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try bind(index, text: $0) }
    }

    private func bind(_ index: Int32, text bytes: UnsafeRawBufferPointer) throws {
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            // The constant is static, so SQLite needs no copy.
            let empty = UnsafeRawPointer(Self.empty.utf8Start).assumingMemoryBound(to: CChar.self)
            return try check(sqlite3_bind_text(pointer, index, empty, 0, nil))
        }
        let text = base.assumingMemoryBound(to: CChar.self)
        try check(sqlite3_bind_text64(pointer, index, text, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8)))
    }

    func bind(_ index: Int32, blob bytes: [UInt8]?) throws {
        guard let bytes else { return try check(sqlite3_bind_null(pointer, index)) }
        try bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return try check(sqlite3_bind_zeroblob(pointer, index, 0)) }
            try check(sqlite3_bind_blob64(pointer, index, base, UInt64(buffer.count), Self.copied))
        }
    }

    /// Throws SQLite's error of a binding, such as a value that is too long or a lack of memory for its copy.
    /// Why: a parameter that was not bound would be written as NULL, or with the value of the previous run.
    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: failure.message) }
    }

    private var failure: (code: Int32, message: String?) {
        let connection = sqlite3_db_handle(pointer)
        return (sqlite3_extended_errcode(connection), sqlite3_errmsg(connection).map { String(cString: $0) })
    }

    func step() throws -> Bool {
        let code = sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let (extended, message) = failure
            sqlite3_reset(pointer)
            throw DatabaseError(resultCode: ResultCode(rawValue: extended), message: message)
        }
    }

    /// Call it after the last ``step()``, with or without a row: an open run holds its snapshot.
    func reset() {
        sqlite3_reset(pointer)
    }

    func first(from text: UnsafeRawBufferPointer, at index: Int32) throws -> [UInt8]? {
        defer { reset() }
        guard let base = text.baseAddress?.assumingMemoryBound(to: CChar.self) else {
            try check(sqlite3_bind_text(pointer, index, "", 0, Self.copied))
            return try step() ? bytes(0) : nil
        }
        try check(sqlite3_bind_text64(pointer, index, base, UInt64(text.count), nil, UInt8(SQLITE_UTF8)))
        return try step() ? bytes(0) : nil
    }

    func run() throws {
        defer { reset() }
        _ = try step()
    }

    var changes: Int { Int(sqlite3_changes(sqlite3_db_handle(pointer))) }

    var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(pointer, Int32(truncatingIfNeeded: column)) }

    package func number(_ column: Int) -> Double { sqlite3_column_double(pointer, Int32(truncatingIfNeeded: column)) }

    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(pointer, Int32(truncatingIfNeeded: column)) == SQLITE_NULL }

    package func bytes(_ column: Int) -> [UInt8] {
        guard let base = sqlite3_column_blob(pointer, Int32(truncatingIfNeeded: column)) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, Int32(truncatingIfNeeded: column)))))
    }

    package func view(_ column: Int) -> UnsafeRawBufferPointer {
        guard let base = sqlite3_column_blob(pointer, Int32(truncatingIfNeeded: column)) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, Int32(truncatingIfNeeded: column))))
    }

    package func text(_ column: Int) -> String {
        guard let base = sqlite3_column_blob(pointer, Int32(truncatingIfNeeded: column)) else { return "" }
        return String(
            decoding: UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, Int32(truncatingIfNeeded: column)))),
            as: UTF8.self)
    }

    package func flag(_ column: Int) -> Bool { integer(column) != 0 }
}

extension SQLConnection {
    var session: SQLiteSession { SQLiteSession(connection: self) }
}

package struct SQLiteSession: SQLSession {
    package static var dialect: SQLDialect { .sqlite }

    let connection: any SQLConnection

    @discardableResult
    package func run(_ commands: [SQLCommand], _ read: (_ command: Int, _ row: SQLStatement) throws -> Void) throws -> [Int] {
        var written: [Int] = []
        for (index, command) in commands.enumerated() {
            let statement = try SQLStatement(connection, command.text)
            written.append(0)
            for row in 0..<command.rowCount {
                try statement.bind(command.values, row: row)
                defer { statement.reset() }
                while try statement.step() { try read(index, statement) }
                if !statement.isReadOnly { written[index] += statement.changes }
            }
        }
        return written
    }
}
