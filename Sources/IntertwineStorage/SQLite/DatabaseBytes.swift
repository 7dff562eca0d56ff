import GRDB
import GRDBSQLite

/// The bytes of a database's main file on disk, read through SQLite's own file descriptor.
///
/// Why: closing any other descriptor of the file drops the locks that SQLite holds on it for the whole process.
struct DatabaseBytes {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    /// Creates a reader for the file of a connection.
    ///
    /// - Parameter connection: must stay open while this value is used.
    /// - Throws: `DatabaseError` if the connection has no file.
    init(_ connection: any SQLConnection) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = withUnsafeMutablePointer(to: &file) {
            sqlite3_file_control(connection.sqliteHandle, "main", SQLITE_FCNTL_FILE_POINTER, $0)
        }
        guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods?.pointee else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database has no file")
        }
        (self.file, self.methods) = (file, methods)
    }

    /// The size of the file, in bytes.
    func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        try check(methods.xFileSize?(file, &size))
        return size
    }

    /// Fills a buffer with the bytes at an offset.
    ///
    /// - Returns: false if the file ends before the buffer is full.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Bool {
        let code = methods.xRead?(file, buffer.baseAddress, Int32(clamping: buffer.count), offset)
        // SQLITE_IOERR_SHORT_READ
        if code == SQLITE_IOERR | 2 << 8 { return false }
        try check(code)
        return true
    }

    /// Reads a page, numbered from 1, as ``read(_:at:)`` does.
    private func readPage(_ number: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Bool {
        try read(buffer, at: (number - 1) * Int64(buffer.count))
    }

    private func check(_ code: Int32?) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code ?? SQLITE_IOERR)) }
    }

    /// Returns true if the unused space of a page contains a text. Reads the whole file.
    func unusedSpaceContains(_ text: [UInt8]) throws -> Bool {
        let header = DatabaseHeader(try bytes(DatabaseHeader.length, at: 0) ?? [])
        guard let header, !text.isEmpty else { return false }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: header.pageSize, alignment: 8)
        defer { page.deallocate() }
        for number in 1...max(1, try size() / Int64(header.pageSize)) where try readPage(number, into: page) {
            let unused = UnusedSpace(UnsafeRawBufferPointer(page), headerAt: number == 1 ? DatabaseHeader.length : 0)
            if unused.contains(text) { return true }
        }
        return false
    }

    /// Returns bytes of the file, or nil if the file ends before them.
    func bytes(_ count: Int, at offset: Int64) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return try bytes.withUnsafeMutableBytes { try read($0, at: offset) } ? bytes : nil
    }
}

/// The first bytes of a database file (<https://www.sqlite.org/fileformat2.html#the_database_header>).
struct DatabaseHeader: Equatable {
    static let length = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    let pageSize: Int
    /// The size of the database in pages at the last write of page 1.
    let pages: Int64
    let freePages: Int64

    /// Parses a header; nil if the bytes are not a database header.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, bytes.starts(with: Self.magic) else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65_536 : size
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else { return nil }
        pages = bytes[28..<32].reduce(0) { $0 << 8 | Int64($1) }
        freePages = bytes[36..<40].reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// The parts of a b-tree page that belong to no cell (<https://www.sqlite.org/fileformat2.html#b_tree_pages>).
private struct UnusedSpace {
    private let page: UnsafeRawBufferPointer
    private var parts: [Range<Int>] = []

    /// Parses the page header and collects its unused ranges.
    ///
    /// - Parameter start: the byte offset of the page header.
    init(_ page: UnsafeRawBufferPointer, headerAt start: Int) {
        self.page = page
        let headerLength: Int
        switch page[start] {
        case 2, 5: headerLength = 12
        case 10, 13: headerLength = 8
        // Pages of other types are zeroed when they become free.
        default: return
        }
        let cells = start + headerLength + 2 * number(at: start + 3)
        let content = number(at: start + 5) == 0 ? page.count : number(at: start + 5)
        guard cells <= content, content <= page.count else { return }
        parts.append(cells..<content)
        var block = number(at: start + 1)
        // Free blocks are in ascending order, so the loop also ends for a corrupt chain.
        while block >= content, block + 4 <= page.count {
            let end = min(block + number(at: block + 2), page.count)
            if block + 4 < end { parts.append(block + 4..<end) }
            let next = number(at: block)
            guard next > block else { return }
            block = next
        }
    }

    private func number(at byte: Int) -> Int { Int(page[byte]) << 8 | Int(page[byte + 1]) }

    func contains(_ text: [UInt8]) -> Bool {
        parts.contains { part in
            var rest = part
            while rest.count >= text.count {
                guard let start = page[rest].firstIndex(of: text[0]), start + text.count <= part.upperBound else { return false }
                if page[start..<start + text.count].elementsEqual(text) { return true }
                rest = start + 1..<part.upperBound
            }
            return false
        }
    }
}
