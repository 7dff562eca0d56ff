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
