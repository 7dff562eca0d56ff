import GRDB
public import IntertwineFeed

extension SQLiteLedger {
    public func selection(id: String) async throws -> SelectionRecord? {
        try await read { database in
            let statement = try SQLStatement(database, "SELECT cell, viewer, expires, undone_at FROM selection WHERE id = ?")
            defer { statement.reset() }
            try statement.bind(1, id)
            guard try statement.step() else { return nil }
            let steps = try SQLStatement(database, "SELECT command, undo FROM selection_step WHERE selection = ? ORDER BY number")
            defer { steps.reset() }
            try steps.bind(1, id)
            var record = SelectionRecord(
                id: id, cell: statement.text(0), viewer: statement.optionalText(1), steps: [], expires: statement.integer(2),
                undoneAt: statement.isNull(3) ? nil : statement.integer(3))
            while try steps.step() {
                record.steps.append(SelectionRecord.Step(command: steps.text(0), undo: steps.isNull(1) ? nil : steps.bytes(1)))
            }
            return record
        }
    }

    public func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListedCell] {
        try await cells(on: list, of: viewer, "mark < ?3", mark ?? .max, order: "mark DESC", limit: limit)
    }

    public func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListedCell] {
        try await cells(on: list, of: viewer, "mark > ?3", mark, order: "mark", limit: limit)
    }

    /// The cost is that of the page, however long the list, and however often a cell was put on it.
    private func cells(
        on list: ViewerList, of viewer: String, _ side: String, _ mark: Int64, order: String, limit: Int
    ) async throws -> [ListedCell] {
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
            var cells: [ListedCell] = []
            while try statement.step() { cells.append(ListedCell(cell: statement.text(0), mark: statement.integer(1))) }
            return cells
        }
    }
}

extension SQLiteLedger {
    public func holds(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        try await read { try Listing.all([list], of: viewer, in: $0)[0].contains(cell) }
    }

    /// Reads on the caller's thread, and beside whatever that reads of the items.
    public func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([any CellSet]) throws -> Value) throws -> Value {
        do {
            return try connections.read { try body(Listing.all(lists, of: viewer, in: $0)) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}

/// A viewer's list, asked by a look into the index for each cell: a microsecond or two, however long the list.
private struct Listing: CellSet {
    /// With the viewer in it already. Nil where the list is empty, as most are.
    private let statement: SQLStatement?
    private let list: ViewerList

    /// The lists in their order. Which of them hold anything is found by steps from one to the next: for most viewers, one step.
    static func all(_ lists: [ViewerList], of viewer: String, in database: any SQLConnection) throws -> [Listing] {
        let next = try SQLStatement(
            database,
            """
            SELECT list FROM listing INDEXED BY listing_place WHERE viewer = ?1 AND list > ?2 AND leads = 1 ORDER BY list LIMIT 1
            """)
        defer { next.reset() }
        try next.bind(1, viewer)
        var filled: [String] = []
        while true {
            next.reset()
            try next.bind(2, filled.last ?? "")
            guard try next.step() else { break }
            filled.append(next.text(0))
        }
        guard lists.contains(where: { filled.contains($0.rawValue) }) else { return lists.map { Listing(statement: nil, list: $0) } }
        let one = try SQLStatement(
            database, "SELECT 1 FROM listing INDEXED BY listing_leader WHERE viewer = ?1 AND list = ?2 AND cell = ?3 AND leads = 1")
        try one.bind(1, viewer)
        return lists.map { Listing(statement: filled.contains($0.rawValue) ? one : nil, list: $0) }
    }

    func contains(_ cell: String) throws -> Bool {
        guard let statement else { return false }
        try statement.bind(2, list.rawValue)
        return try statement.finds(cell, at: 3)
    }
}
