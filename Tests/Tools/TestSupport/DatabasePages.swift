import Foundation

/// A database file that `sqlite3`, another program, fills and describes, so that a test can damage any row and any index entry in it. Blocking.
public struct DatabasePages {
    public struct Failure: Error {
        var message: String
    }

    private let path: String

    public init(_ path: String) { self.path = path }

    /// Runs SQL, and returns the lines of the output.
    @discardableResult
    public func sqlite(_ sql: String) throws -> [String] {
        let shell = try SpawnedProcess(["/usr/bin/sqlite3", "-bail", "-cmd", ".timeout 5000", path, sql])
        while try shell.nextLine(timeout: 60_000) != nil {}
        guard shell.wait() == 0 else { throw Failure(message: "\(path): \(shell.lines.joined(separator: "\n"))") }
        return shell.lines
    }

    /// The names of all tables and indexes, without SQLite's own tables.
    public func objects() throws -> [String] {
        try sqlite(
            """
            SELECT name FROM sqlite_schema WHERE type = 'index' OR type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name
            """)
    }

    // MARK: Rows

    /// Adds 300 rows to each table that has other rows than `except` names. The rows do not expire within half an hour.
    public func fill(except: Set<String> = []) throws {
        let described = try sqlite(
            """
            SELECT t.name || ' ' || c.name || ' ' || c.type FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND t.name NOT GLOB 'sqlite_*'
                AND t.sql NOT LIKE '%CHECK (only = 1)%'
            """)
        var tables: [String: [(name: String, value: String)]] = [:]
        for line in described {
            let words = line.split(separator: " ").map(String.init)
            guard !except.contains(words[0]) else { continue }
            tables[words[0], default: []].append((words[1], Self.value(of: words[1], words[2])))
        }
        let now = Int(Date().timeIntervalSince1970 * 1_000)
        for (table, columns) in tables {
            try sqlite(
                """
                WITH RECURSIVE number(i, now) AS (SELECT 1, \(now) UNION ALL SELECT i + 1, now FROM number WHERE i < 300)
                INSERT OR IGNORE INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))
                SELECT \(columns.map(\.value).joined(separator: ", ")) FROM number
                """)
        }
    }

    private static func value(of column: String, _ type: String) -> String {
        switch (column, type) {
        case ("leads", _): "i % 2"
        case ("removes", _): "i / 2 % 2"
        case ("until", _), ("expires", _), ("due", _): "now + 1800000 + i"
        case ("given_up", _): "iif(i % 2, now - i, NULL)"
        case ("at", _): "now - i"
        case ("day", _): "now / 86400000 - i"
        case (_, "INTEGER"): "i * 1000003"
        case (_, "BLOB"): "randomblob(40)"
        default: "'\(column) ' || i"
        }
    }

    // MARK: Pages

    /// A page whose cells are rows or entries of an index.
    public struct Page: CustomStringConvertible {
        public let object: String
        let offset: Int
        let size: Int

        public var description: String { "a page of \(object) at \(offset)" }

        /// The place of a record: its first byte and its end on the page, and the last byte of its first value that has bytes.
        private func record(_ number: Int, of file: [UInt8]) throws -> (start: Int, value: Int?, end: Int) {
            func word(_ place: Int) -> Int { Int(file[offset + place]) << 8 | Int(file[offset + place + 1]) }
            let kind = file[offset]
            let isInternal = kind == 2
            guard number < word(3), [2, 10, 13].contains(kind) else { throw Failure(message: "\(self) has no cell \(number)") }
            // A pointer to another page is no part of an entry.
            var place = word((isInternal ? 12 : 8) + 2 * number) + (isInternal ? 4 : 0)
            func readNumber() -> Int {
                var number = 0
                while true {
                    let byte = file[offset + place]
                    place += 1
                    number = number << 7 | Int(byte & 0x7F)
                    if byte < 0x80 { return number }
                }
            }
            let length = readNumber()
            if kind == 13 { _ = readNumber() }
            let start = place
            let values = start + readNumber()
            var value: Int?
            while value == nil, place < values {
                // The lengths of values by their types (<https://www.sqlite.org/fileformat2.html#record_format>).
                let type = readNumber()
                let bytes = type < 12 ? [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type] : (type - 12) / 2
                if bytes > 0 { value = offset + values + bytes - 1 }
            }
            return (offset + start, value, offset + min(start + length, size))
        }

        /// The bytes of the page in the file.
        public var range: Range<Int> { offset..<offset + size }

        private func count(in file: [UInt8]) -> Int { Int(file[offset + 3]) << 8 | Int(file[offset + 4]) }

        /// The last byte of the first value of a row or entry in the middle of the page.
        public func valueByte(of file: [UInt8]) throws -> Int {
            guard let value = try record(count(in: file) / 2, of: file).value else { throw Failure(message: "\(self) has no values") }
            return value
        }
    }

    /// The pages with rows of tables and entries of indexes. An internal page of a table has row numbers only.
    public func pages() throws -> [Page] {
        let lines = try sqlite(
            """
            SELECT name || ' ' || pgoffset || ' ' || pgsize FROM dbstat
            WHERE ncell > 0 AND (pagetype = 'leaf' OR pagetype = 'internal' AND name IN (SELECT name FROM sqlite_schema WHERE sql IS NULL
                OR type = 'index' OR sql LIKE '%WITHOUT ROWID%')) ORDER BY name, pgoffset
            """)
        let objects = Set(try objects())
        return try lines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard objects.contains(words[0]) else { return nil }
            guard words.count == 3, let offset = Int(words[1]), let size = Int(words[2]) else { throw Failure(message: line) }
            return Page(object: words[0], offset: offset, size: size)
        }
    }

    /// Flips one bit of a value in a row of a table, or in an entry of an index.
    public func flip(in object: String) throws {
        let pages = try pages().filter { $0.object == object }
        guard !pages.isEmpty else { throw Failure(message: "\(path): \(object) is empty") }
        let file = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let place = try pages[pages.count / 2].valueByte(of: file)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: [file[place] ^ 1])
        try handle.close()
    }
}
