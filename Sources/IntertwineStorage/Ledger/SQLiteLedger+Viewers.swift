import GRDB
import Glibc
public import IntertwineFeed

extension SQLiteLedger {
    public func selection(id: String) async throws -> CommandRecord? {
        try await read { database in
            let statement = try SQLStatement(database, "SELECT cell, viewer, expires, undone_at FROM selection WHERE id = ?")
            defer { statement.reset() }
            try statement.bind(1, id)
            guard try statement.step() else { return nil }
            let steps = try SQLStatement(database, "SELECT command, undo FROM selection_step WHERE selection = ? ORDER BY number")
            defer { steps.reset() }
            try steps.bind(1, id)
            var record = CommandRecord(
                id: id, cell: statement.text(0), viewer: statement.optionalText(1), steps: [], expires: statement.integer(2),
                undoneAt: statement.isNull(3) ? nil : statement.integer(3))
            while try steps.step() {
                record.steps.append(CommandRecord.Step(command: steps.text(0), undo: steps.isNull(1) ? nil : steps.bytes(1)))
            }
            return record
        }
    }

    public func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry] {
        try await cells(on: list, of: viewer, "mark < ?3", mark ?? .max, order: "mark DESC", limit: limit)
    }

    public func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry] {
        try await cells(on: list, of: viewer, "mark > ?3", mark, order: "mark", limit: limit)
    }

    /// The cost is that of the page, however long the list, and however often a cell was put on it.
    private func cells(
        on list: ViewerList, of viewer: String, _ side: String, _ mark: Int64, order: String, limit: Int
    ) async throws -> [ListEntry] {
        try await read { database in
            let statement = try SQLStatement(
                database,
                """
                SELECT cell, mark FROM listing INDEXED BY listing_place
                WHERE viewer = ?1 AND list = ?2 AND leads = 1 AND \(side)
                ORDER BY \(order) LIMIT ?4
                """)
            defer { statement.reset() }
            try statement.bind(1, viewer)
            try statement.bind(2, list.rawValue)
            try statement.bind(3, mark)
            try statement.bind(4, Int64(max(limit, 0)))
            var cells: [ListEntry] = []
            while try statement.step() { cells.append(ListEntry(cell: statement.text(0), entryID: statement.integer(1))) }
            return cells
        }
    }
}

extension SQLiteLedger {
    public func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await read { try ListCursor.all([list], of: viewer, in: $0)[0]?.contains(cell) ?? false }
    }

    /// Reads on the caller's thread, and beside whatever that reads of the items.
    public func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
        do {
            return try connections.read { try body(ListCursor.all(lists, of: viewer, in: $0)) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}

/// A viewer's list, asked of one cell after another.
///
/// A look into the index tells the next cell on the list, and so that none stands in between: whoever asks of cells among which none is on
/// the list looks twice, whatever their order, and nobody looks more than twice for a cell. A look takes a microsecond, however long the list.
private final class ListCursor: CellSet {
    /// Where the stretch begins that is known.
    private enum Start {
        /// At a cell: what stands before it is not known.
        case at([UInt8])
        /// Behind a cell that is on the list.
        case after([UInt8])
        case ofList
    }

    private let list: ViewerList
    /// With the viewer in them; one for all lists.
    private let next: SQLStatement
    /// Few pages need it.
    private let previous: () throws -> SQLStatement
    private let counted: () throws -> Int64?
    /// From here up to `end` no cell is on the list.
    private var start: Start?
    /// A cell that is on the list; nil for the list's end.
    private var end: [UInt8]?

    /// For the three lists that a page asks of; most viewers have nothing on any.
    private static let nothing: [(any CellSet & Sendable)?] = [nil, nil, nil]

    private init(
        _ list: ViewerList, next: SQLStatement, previous: @escaping () throws -> SQLStatement, counted: @escaping () throws -> Int64?
    ) {
        (self.list, self.next, self.previous, self.counted) = (list, next, previous, counted)
    }

    /// The lists in their order; nil for those that hold nothing, as most do. Which hold anything is found by steps from one to the next: for
    /// most viewers, one step.
    ///
    /// - Parameter database: is read within one transaction for as long as the lists are asked.
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
            } counted: {
                try SQLStatement.integer(database, "SELECT count FROM withdrawal WHERE list = ?1", .text(list.rawValue))
            }
        }
    }

    func removalGeneration() throws -> Int64? { try counted() }

    private func seek(_ statement: SQLStatement, from cell: UnsafeRawBufferPointer) throws -> [UInt8]? {
        try statement.bind(2, list.rawValue)
        return try statement.first(from: cell, at: 3)
    }

    func contains(_ cell: String) throws -> Bool {
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

    /// Whether a cell before the stretch's end is on the list; nil where it stands before what is known, and before the cell in front of that.
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
    /// Less than 0 where it comes before the others, as SQLite compares texts: byte by byte.
    fileprivate func compared(to other: [UInt8]) -> Int {
        let count = Swift.min(count, other.count)
        let difference =
            count == 0 ? 0 : other.withUnsafeBytes { one in baseAddress.flatMap { a in one.baseAddress.map { memcmp(a, $0, count) } } ?? 0 }
        return difference != 0 ? Int(difference) : self.count - other.count
    }
}
