import GRDB
import GRDBSQLite

/// A prepared statement, bound and stepped by SQLite's own functions.
///
/// GRDB opens connections, prepares statements and keeps them; its bindings box each value, which import and clicks would pay for
/// millions of times. Confined to the connection's queue, like everything of GRDB's.
struct SQLStatement {
    private let statement: Statement

    /// Prepared once for each connection and text.
    init(_ database: Database, _ sql: String) throws {
        statement = try database.cachedStatement(sql: sql)
    }

    private var pointer: SQLiteStatement { statement.sqliteStatement }

    /// SQLITE_TRANSIENT: SQLite copies the value before the call returns.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    func bind(_ index: Int32, _ value: Int64) {
        sqlite3_bind_int64(pointer, index, value)
    }

    func bind(_ index: Int32, _ value: Double) {
        sqlite3_bind_double(pointer, index, value)
    }

    func bind(_ index: Int32, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(pointer, index)
            return
        }
        value.withUTF8 { bind(index, text: UnsafeRawBufferPointer($0)) }
    }

    /// A text behind a prefix.
    func bind(_ index: Int32, _ value: String, behind prefix: StaticString) {
        var value = value
        value.withUTF8 { text in
            withUnsafeTemporaryAllocation(byteCount: prefix.utf8CodeUnitCount + text.count, alignment: 1) { joined in
                prefix.withUTF8Buffer { joined.copyBytes(from: $0) }
                UnsafeMutableRawBufferPointer(rebasing: joined[prefix.utf8CodeUnitCount...]).copyBytes(from: text)
                bind(index, text: UnsafeRawBufferPointer(joined))
            }
        }
    }

    /// Bytes that are known to be UTF-8, as text.
    func bind(_ index: Int32, text bytes: [UInt8]) {
        bytes.withUnsafeBytes { bind(index, text: $0) }
    }

    private func bind(_ index: Int32, text bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else {
            sqlite3_bind_text(pointer, index, "", 0, Self.copied)
            return
        }
        let text = base.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text64(pointer, index, text, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
    }

    func bind(_ index: Int32, blob bytes: [UInt8]?) {
        guard let bytes else {
            sqlite3_bind_null(pointer, index)
            return
        }
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else {
                sqlite3_bind_zeroblob(pointer, index, 0)
                return
            }
            sqlite3_bind_blob64(pointer, index, base, UInt64(buffer.count), Self.copied)
        }
    }

    /// Whether there is another row.
    func step() throws -> Bool {
        let code = sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let connection = sqlite3_db_handle(pointer)
            let message = sqlite3_errmsg(connection).map { String(cString: $0) }
            let extended = sqlite3_extended_errcode(connection)
            sqlite3_reset(pointer)
            throw DatabaseError(resultCode: ResultCode(rawValue: extended), message: message)
        }
    }

    /// Ends the run. To be called after the last ``step()``, whether or not it brought a row: an open run holds its snapshot.
    func reset() {
        sqlite3_reset(pointer)
    }

    /// One run that brings no rows.
    func run() throws {
        defer { reset() }
        _ = try step()
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    func number(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    /// The bytes of a text or a blob; none for NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let base = sqlite3_column_blob(pointer, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    func text(_ column: Int32) -> String {
        guard let base = sqlite3_column_blob(pointer, column) else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, column))), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}
