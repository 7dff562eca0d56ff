package import IntertwineFeed
internal import IntertwineStorageCore

extension PostgresLedger {
    package func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await pool.run(for: .request) { connection in
            try !connection.query(
                "SELECT FROM listing WHERE viewer = $1 AND list = $2 AND \(ListMutation.isCell("$3")) AND leads ORDER BY cell LIMIT 1",
                .text(viewer), .text(list.rawValue), .text(cell)
            ).isEmpty
        }
    }

    package func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
        func read(_ connection: PostgresConnection) throws -> Value {
            let listRanges = try ListRanges(lists, of: viewer, connection)
            do {
                let value = try body(lists.map { ListRange($0, listRanges) })
                listRanges.end()
                return value
            } catch {
                listRanges.abort()
                if let failure = error as? ListFailure { throw failure.cause }
                throw BodyFailure(cause: error)
            }
        }
        func readDegraded() throws -> Value? {
            try standby?.readDegraded(since: nil, mustBeComplete: false) { connection, _ in try read(connection) }
        }
        do {
            if standby?.isPrimaryAway == true, let value = try readDegraded() { return value }
            do {
                return try pool.use(read)
            } catch let error as PostgresError {
                if error.isConnectionLost, let value = try readDegraded() { return value }
                throw error.storeError
            }
        } catch let failure as BodyFailure {
            throw failure.cause
        }
    }
}

/// A failure of the session of a viewer's lists, as the reader of items passes it on.
/// Why a type of its own: items and lists have sessions of their own, which can be lost independently. The reader of items must not take a
/// loss of this session for one of its own.
private struct ListFailure: Error {
    let cause: PostgresError
}

/// ``PostgresLedger/withCells(on:of:_:)`` passes its cause on unchanged, because the reader's caller handles it.
private struct BodyFailure: Error {
    let cause: any Error
}

/// A cache of a viewer's lists during one transaction: one range of cells for each list, in the order of their ids.
/// The first lookup waits for its result, so that the query runs while items are read. A lookup in a longer list reads a shorter range that
/// begins at the requested cell, so that lookups of nearby cells share one query, and those of others cost little.
private final class ListRanges {
    private static let (length, nextLength) = (1_000, 100)

    private struct CachedRange {
        var start: ByteString?
        /// Cells after the last one are unknown, unless `isLast` is true.
        var cells: [[UInt8]]
        var isLast: Bool
    }

    private let lists: [ViewerList]
    private let viewer: String
    private let connection: PostgresConnection
    private var beginning: PipelinedQuery?
    private var ranges: [ViewerList: CachedRange] = [:]
    /// The results of ``find(_:on:)``.
    private var found: [ViewerList: [ByteString: Bool]] = [:]

    init(_ lists: [ViewerList], of viewer: String, _ connection: PostgresConnection) throws {
        (self.lists, self.viewer, self.connection) = (lists, viewer, connection)
        let begin = SQLCommand("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        beginning = try connection.ask([begin] + lists.map { Self.command($0, of: viewer, from: "", limit: Self.length) })
    }

    private func begin() throws {
        guard let beginning else { return }
        self.beginning = nil
        for (list, rows) in try zip(lists, connection.results(of: beginning).dropFirst()) {
            store(rows, of: list, from: nil, limit: Self.length)
        }
    }

    func end() {
        // A connection on which that fails is not used again.
        try? begin()
        try? connection.post([SQLCommand("COMMIT")])
    }

    func abort() {
        if beginning == nil { try? connection.post([SQLCommand("COMMIT")]) }
    }

    func cells(on list: ViewerList, limit: Int) throws -> [String] {
        try begin()
        if let known = ranges[list], known.start == nil, known.isLast, known.cells.count <= limit {
            return known.cells.map { String(decoding: $0, as: UTF8.self) }
        }
        let command = SQLCommand(
            "SELECT cell FROM listing WHERE viewer = $1 AND list = $2 AND leads ORDER BY mark DESC LIMIT $3",
            [.text(viewer), .text(list.rawValue), .integer(Int64(limit))])
        return Self.texts(try connection.run([command])[0])
    }

    func find(_ cells: () -> [String], on list: ViewerList) throws {
        try begin()
        if let known = ranges[list], known.start == nil, known.isLast { return }
        let unknown = cells().filter { found[list]?[ByteString($0)] == nil }
        guard !unknown.isEmpty else { return }
        let command = SQLCommand(
            """
            SELECT part.cell FROM unnest($3) AS asked (name) CROSS JOIN LATERAL (
                SELECT cell FROM listing WHERE viewer = $1 AND list = $2 AND leads AND \(ListMutation.isCell("asked.name"))
                ORDER BY cell LIMIT 1) AS part
            """, [.text(viewer), .text(list.rawValue), .texts(unknown)])
        let rows = try connection.run([command])[0]
        for cell in unknown { found[list, default: [:]][ByteString(cell)] = false }
        for cell in Self.texts(rows) { found[list, default: [:]][ByteString(cell)] = true }
    }

    private static func texts(_ rows: PostgresRows) -> [String] { (0..<rows.count).map { rows.text($0, 0) } }

    private static func command(_ list: ViewerList, of viewer: String, from cell: String, limit: Int) -> SQLCommand {
        SQLCommand(
            """
            SELECT cell FROM listing WHERE viewer = $1 AND list = $2 AND leads AND cell >= $3
            ORDER BY cell LIMIT $4
            """, [.text(viewer), .text(list.rawValue), .text(cell), .integer(Int64(limit))])
    }

    private func store(_ rows: PostgresRows, of list: ViewerList, from start: String?, limit: Int) {
        ranges[list] = CachedRange(
            start: start.map { ByteString($0) }, cells: (0..<rows.count).map { Array(rows.text($0, 0).utf8) },
            isLast: rows.count < limit)
    }

    func contains(_ cell: String, on list: ViewerList) throws -> Bool {
        try begin()
        let bytes = Array(cell.utf8)
        if let known = ranges[list].flatMap({ Self.contains($0, of: bytes) }) ?? found[list]?[ByteString(cell)] { return known }
        let rows = try connection.run([Self.command(list, of: viewer, from: cell, limit: Self.nextLength)])[0]
        store(rows, of: list, from: cell, limit: Self.nextLength)
        return ranges[list].flatMap { Self.contains($0, of: bytes) } ?? false
    }

    private static func contains(_ range: CachedRange, of cell: [UInt8]) -> Bool? {
        if let start = range.start, cell.lexicographicallyPrecedes(start.text.utf8) { return nil }
        var (low, high) = (0, range.cells.count)
        while low < high {
            let middle = (low + high) / 2
            if range.cells[middle].lexicographicallyPrecedes(cell) { low = middle + 1 } else { high = middle }
        }
        if low < range.cells.count { return range.cells[low] == cell }
        return range.isLast ? false : nil
    }
}

private struct ListRange: CellSet {
    private let list: ViewerList
    private let ranges: ListRanges

    init(_ list: ViewerList, _ listRanges: ListRanges) {
        (self.list, self.ranges) = (list, listRanges)
    }

    func contains(_ cell: String) throws -> Bool { try marking { try ranges.contains(cell, on: list) } }

    func cells(limit: Int) throws -> [String] { try marking { try ranges.cells(on: list, limit: limit) } }

    func prefetch(_ cells: @autoclosure () -> [String]) throws { try marking { try ranges.find(cells, on: list) } }

    private func marking<Value>(_ read: () throws -> Value) throws -> Value {
        do { return try read() } catch let error as PostgresError { throw ListFailure(cause: error) }
    }
}
