import GRDB
import IntertwineFeed

/// The table `listing`: additions to viewers' lists, and removals from them.
///
/// Each change has a row, so that each can be undone on its own. A cell is on a list if an addition follows its last removal.
/// The oldest of these additions is the leader, which determines the cell's position.
/// Once the leader cannot be undone, the cell stays until it is removed, and further additions write no rows: repetition does not grow lists.
struct ListEntryTable {
    private let insert: SQLStatement
    private let findLeader: SQLStatement
    private let findAny: SQLStatement
    private let delete: SQLStatement
    private let forget: SQLStatement
    private let demote: SQLStatement
    private let promote: SQLStatement

    private static let ofCell = "viewer = ?1 AND list = ?2 AND cell = ?3"

    init(_ database: Database) throws {
        insert = try SQLStatement(
            database,
            "INSERT OR IGNORE INTO listing (viewer, list, cell, performance, at, until, leads, removes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        findLeader = try SQLStatement(
            database, "SELECT until FROM listing INDEXED BY listing_leader WHERE \(Self.ofCell) AND leads = 1")
        findAny = try SQLStatement(database, "SELECT 1 FROM listing INDEXED BY listing_cell WHERE \(Self.ofCell) LIMIT 1")
        delete = try SQLStatement(database, "DELETE FROM listing WHERE \(Self.ofCell) AND performance = ?4")
        forget = try SQLStatement(
            database,
            """
            DELETE FROM listing WHERE mark IN (SELECT mark FROM listing INDEXED BY listing_cell WHERE \(Self.ofCell))
            """)
        demote = try SQLStatement(
            database,
            """
            UPDATE listing SET leads = 0 WHERE mark IN (
                SELECT mark FROM listing INDEXED BY listing_leader WHERE \(Self.ofCell) AND leads = 1)
            """)
        promote = try SQLStatement(
            database,
            """
            UPDATE listing SET leads = 1 WHERE mark = (
                SELECT mark FROM listing INDEXED BY listing_cell WHERE \(Self.ofCell) AND removes = 0 AND mark > coalesce(
                    (SELECT max(mark) FROM listing INDEXED BY listing_removed WHERE \(Self.ofCell) AND removes = 1), -1)
                ORDER BY mark LIMIT 1)
            """)
    }

    /// Applies a change of a list.
    ///
    /// - Parameter until: the time after which the change cannot be undone.
    func apply(_ change: ListMutation, until: Int64, now: Int64) throws {
        switch change {
        case .add(let list, let viewer, let cell, let performance, let at):
            let leader = try leader(list, viewer, cell)
            if let leader, leader <= now { return }
            try insert(list, viewer, cell, performance, at: at, until: until, leads: leader == nil, removes: false)
        case .remove(let list, let viewer, let cell, let performance, let at):
            if until <= now { return try run(forget, list, viewer, cell) }
            guard try isKnown(list, viewer, cell) else { return }
            try insert(list, viewer, cell, performance, at: at, until: until, leads: false, removes: true)
            try run(demote, list, viewer, cell)
        case .revert(let list, let viewer, let cell, let performance):
            try delete.bind(4, performance)
            try run(delete, list, viewer, cell)
            try run(demote, list, viewer, cell)
            try run(promote, list, viewer, cell)
        }
    }

    /// Returns the time after which the leader of a cell cannot be undone; nil if the cell is not on the list.
    private func leader(_ list: ViewerList, _ viewer: String, _ cell: String) throws -> Int64? {
        try Self.bind(findLeader, list, viewer, cell)
        defer { findLeader.reset() }
        return try findLeader.step() ? findLeader.integer(0) : nil
    }

    private func isKnown(_ list: ViewerList, _ viewer: String, _ cell: String) throws -> Bool {
        try Self.bind(findAny, list, viewer, cell)
        defer { findAny.reset() }
        return try findAny.step()
    }

    private func insert(
        _ list: ViewerList, _ viewer: String, _ cell: String, _ performance: String, at: Int64, until: Int64, leads: Bool, removes: Bool
    ) throws {
        try insert.bind(4, performance)
        try insert.bind(5, at)
        try insert.bind(6, until)
        try insert.bind(7, Int64(leads ? 1 : 0))
        try insert.bind(8, Int64(removes ? 1 : 0))
        try run(insert, list, viewer, cell)
    }

    private func run(_ statement: SQLStatement, _ list: ViewerList, _ viewer: String, _ cell: String) throws {
        try Self.bind(statement, list, viewer, cell)
        try statement.run()
    }

    private static func bind(_ statement: SQLStatement, _ list: ViewerList, _ viewer: String, _ cell: String) throws {
        try statement.bind(1, viewer)
        try statement.bind(2, list.rawValue)
        try statement.bind(3, cell)
    }
}
