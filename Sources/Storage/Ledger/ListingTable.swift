import Feed
import GRDB

/// What performances put on viewers' lists.
///
/// Each has a row, so that each can be taken back on its own. The oldest of a cell leads: it gives the cell its place. Once that one can be
/// taken back no more, the cell stays for good, and what puts it there again leaves no row: lists do not grow by repetition.
struct ListingTable {
    private let insert: SQLStatement
    private let findFirst: SQLStatement
    private let delete: SQLStatement
    private let promote: SQLStatement

    init(_ database: Database) throws {
        insert = try SQLStatement(
            database, "INSERT OR IGNORE INTO listing (viewer, list, cell, performance, at, until, leads) VALUES (?, ?, ?, ?, ?, ?, ?)")
        findFirst = try SQLStatement(
            database,
            "SELECT until FROM listing INDEXED BY listing_cell WHERE viewer = ? AND list = ? AND cell = ? ORDER BY mark LIMIT 1")
        delete = try SQLStatement(database, "DELETE FROM listing WHERE viewer = ? AND list = ? AND cell = ? AND performance = ?")
        promote = try SQLStatement(
            database,
            """
            UPDATE listing SET leads = 1 WHERE leads = 0 AND mark = (
                SELECT mark FROM listing INDEXED BY listing_cell WHERE viewer = ? AND list = ? AND cell = ? ORDER BY mark LIMIT 1)
            """)
    }

    /// - Parameter until: when what makes the change can be taken back no more.
    func apply(_ change: ViewerChange, until: Int64, now: Int64) throws {
        switch change {
        case .add(let list, let viewer, let cell, let performance, let at):
            let first = try first(list, viewer, cell)
            if let first, first <= now { return }
            Self.bind(insert, list, viewer, cell)
            insert.bind(4, performance)
            insert.bind(5, at)
            insert.bind(6, until)
            insert.bind(7, first == nil ? Int64(1) : 0)
            try insert.run()
        case .remove(let list, let viewer, let cell, let performance):
            Self.bind(delete, list, viewer, cell)
            delete.bind(4, performance)
            try delete.run()
            Self.bind(promote, list, viewer, cell)
            try promote.run()
        }
    }

    /// When the oldest performance can be taken back no more that put the cell on the list; nil where there is none.
    private func first(_ list: ViewerList, _ viewer: String, _ cell: String) throws -> Int64? {
        Self.bind(findFirst, list, viewer, cell)
        defer { findFirst.reset() }
        return try findFirst.step() ? findFirst.integer(0) : nil
    }

    private static func bind(_ statement: SQLStatement, _ list: ViewerList, _ viewer: String, _ cell: String) {
        statement.bind(1, viewer)
        statement.bind(2, list.rawValue)
        statement.bind(3, cell)
    }
}
