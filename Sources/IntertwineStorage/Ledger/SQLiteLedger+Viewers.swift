import GRDB
import Glibc
package import IntertwineFeed

extension SQLiteLedger {
    package func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await read { try ListCursor.all([list], of: viewer, in: $0)[0]?.contains(cell) ?? false }
    }

    package func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
        do {
            return try connections.read { try body(ListCursor.all(lists, of: viewer, in: $0)) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}

private final class ListCursor: CellSet {
    private enum Start {
        case at([UInt8])
        case after([UInt8])
        case ofList
    }

    private let list: ViewerList
    private let next: SQLStatement
    private let previous: () throws -> SQLStatement
    private let all: () throws -> SQLStatement
    private var start: Start?
    private var end: [UInt8]?
    /// All cells of the list, if they have been read.
    private var known: Set<ByteString>?

    // Safety of nonisolated(unsafe): the array is a constant and contains no cell set.
    nonisolated(unsafe) private static let nothing: [(any CellSet)?] = [nil, nil, nil]

    private init(
        _ list: ViewerList, next: SQLStatement, previous: @escaping () throws -> SQLStatement, all: @escaping () throws -> SQLStatement
    ) {
        (self.list, self.next, self.previous, self.all) = (list, next, previous, all)
    }

    /// `database`: must stay in one transaction while the cursors are used.
    static func all(_ lists: [ViewerList], of viewer: String, in database: any SQLConnection) throws -> [(any CellSet)?] {
        let following = try SQLStatement(
            database,
            """
            SELECT list FROM listing INDEXED BY listing_place WHERE viewer = ?1 AND list > ?2 AND leads = 1 ORDER BY list LIMIT 1
            """)
        defer { following.reset() }
        try following.bind(1, viewer)
        var filled: [String] = []
        while true {
            following.reset()
            try following.bind(2, filled.last ?? "")
            guard try following.step() else { break }
            filled.append(following.text(0))
        }
        guard !filled.isEmpty else {
            if lists.count == nothing.count { return nothing }
            return lists.map { _ in nil }
        }
        func statement(_ side: String) throws -> SQLStatement {
            let statement = try SQLStatement(
                database,
                """
                SELECT cell FROM listing INDEXED BY listing_leader
                WHERE viewer = ?1 AND list = ?2 AND leads = 1 AND cell \(side) LIMIT 1
                """)
            try statement.bind(1, viewer)
            return statement
        }
        let next = try statement(">= ?3 ORDER BY cell")
        return lists.map { list in
            guard filled.contains(list.rawValue) else { return nil }
            return ListCursor(list, next: next) {
                try statement("< ?3 ORDER BY cell DESC")
            } all: {
                let all = try SQLStatement(
                    database,
                    """
                    SELECT cell FROM listing INDEXED BY listing_place
                    WHERE viewer = ?1 AND list = ?2 AND leads = 1 ORDER BY mark DESC LIMIT ?3
                    """)
                try all.bind(1, viewer)
                return all
            }
        }
    }

    private func seek(_ statement: SQLStatement, from cell: UnsafeRawBufferPointer) throws -> [UInt8]? {
        try statement.bind(2, list.rawValue)
        return try statement.first(from: cell, at: 3)
    }

    func cells(limit: Int) throws -> [String] {
        let statement = try all()
        defer { statement.reset() }
        try statement.bind(2, list.rawValue)
        try statement.bind(3, Int64(limit))
        var cells: [String] = []
        while try statement.step() { cells.append(statement.text(0)) }
        if cells.count < limit { known = Set(cells.map { ByteString($0) }) }
        return cells
    }

    func contains(_ cell: String) throws -> Bool {
        if let known { return known.contains(ByteString(cell)) }
        var cell = cell
        return try cell.withUTF8 { try contains(UnsafeRawBufferPointer($0)) }
    }

    private func contains(_ cell: UnsafeRawBufferPointer) throws -> Bool {
        if let start {
            let side = end.map { cell.compared(to: $0) } ?? -1
            if side == 0 { return true }
            if side < 0, let isKnown = try isKnown(cell, since: start) { return isKnown }
        }
        (start, end) = (.at(Array(cell)), try seek(next, from: cell))
        return end.map { cell.compared(to: $0) == 0 } ?? false
    }

    private func isKnown(_ cell: UnsafeRawBufferPointer, since start: Start) throws -> Bool? {
        switch start {
        case .ofList: return false
        case .after(let edge):
            let side = cell.compared(to: edge)
            return side < 0 ? nil : side == 0
        case .at(let first):
            if cell.compared(to: first) >= 0 { return false }
            let found = try first.withUnsafeBytes { try seek(previous(), from: $0) }
            let start = found.map(Start.after) ?? .ofList
            self.start = start
            return try isKnown(cell, since: start)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares byte by byte, as SQLite compares texts.
    fileprivate func compared(to other: [UInt8]) -> Int {
        let count = Swift.min(count, other.count)
        let difference =
            count == 0 ? 0 : other.withUnsafeBytes { one in baseAddress.flatMap { a in one.baseAddress.map { memcmp(a, $0, count) } } ?? 0 }
        return difference != 0 ? Int(difference) : self.count - other.count
    }
}
