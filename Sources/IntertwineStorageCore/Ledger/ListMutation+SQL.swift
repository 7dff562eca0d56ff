package import IntertwineFeed

/// Each change has a row, so that each can be undone on its own.
extension ListMutation {
    /// Returns the condition that a row on a list is that of a cell, for PostgreSQL and with `ORDER BY cell LIMIT 1`.
    /// Why no equality: without statistics, or with those of viewers with a few cells each, the planner takes the index of places and reads the
    /// whole list. Only an index of cells has the order.
    package static func isCell(_ value: String) -> String { "cell >= \(value) AND cell <= \(value)" }

    package func statements(until: Int64, now: Int64, _ dialect: SQLDialect) -> [SQLCommand] {
        let texts = ListStatements.of(dialect)
        switch self {
        case .add(let list, let viewer, let cell, let performance, let at):
            return [
                SQLCommand(
                    texts.add,
                    [
                        .text(viewer), .text(list.rawValue), .text(cell), .text(performance), .integer(at), .integer(until), .integer(now),
                    ])
            ]
        case .remove(let list, let viewer, let cell, let performance, let at):
            let ofCell: [SQLValue] = [.text(viewer), .text(list.rawValue), .text(cell)]
            if until <= now { return [SQLCommand(texts.forget, ofCell)] }
            return [
                SQLCommand(texts.remove, ofCell + [.text(performance), .integer(at), .integer(until)]), SQLCommand(texts.demote, ofCell),
            ]
        case .revert(let list, let viewer, let cell, let performance):
            let ofCell: [SQLValue] = [.text(viewer), .text(list.rawValue), .text(cell)]
            return [
                SQLCommand(texts.revert, ofCell + [.text(performance)]), SQLCommand(texts.demote, ofCell),
                SQLCommand(texts.promote, ofCell),
            ]
        }
    }
}

private struct ListStatements: Sendable {
    private static let sqlite = ListStatements(.sqlite)
    private static let postgres = ListStatements(.postgres)

    static func of(_ dialect: SQLDialect) -> ListStatements { dialect.isPostgreSQL ? postgres : sqlite }

    let add: String
    let remove: String
    let forget: String
    let revert: String
    let demote: String
    let promote: String

    private init(_ dialect: SQLDialect) {
        let ofCell = "viewer = ?1 AND list = ?2 AND cell = ?3"
        let leader =
            dialect.isPostgreSQL
            ? "listing WHERE viewer = ?1 AND list = ?2 AND \(ListMutation.isCell("?3")) AND leads ORDER BY cell LIMIT 1"
            : "listing INDEXED BY listing_leader WHERE \(ofCell) AND leads = 1"
        let anyRow = "listing\(dialect.index("listing_cell")) WHERE \(ofCell)"
        let insertion = "INSERT INTO listing (viewer, list, cell, performance, at, until, leads, removes)"
        add = """
            \(insertion) SELECT ?1, ?2, ?3, ?4, ?5, ?6, leader.until IS NULL, false
            FROM (SELECT 1) AS one LEFT JOIN (SELECT until FROM \(leader)) AS leader ON true
            WHERE leader.until IS NULL OR leader.until > ?7
            ON CONFLICT (viewer, list, cell, performance) DO NOTHING
            """
        remove = """
            \(insertion) SELECT ?1, ?2, ?3, ?4, ?5, ?6, false, true WHERE EXISTS (SELECT 1 FROM \(anyRow))
            ON CONFLICT (viewer, list, cell, performance) DO NOTHING
            """
        forget = "DELETE FROM \(anyRow)"
        revert = "DELETE FROM listing WHERE \(ofCell) AND performance = ?4"
        demote = "UPDATE listing SET leads = false WHERE mark IN (SELECT mark FROM \(leader))"
        promote = """
            UPDATE listing SET leads = true WHERE mark = (
                SELECT mark FROM \(anyRow) AND \(dialect.isFalse("removes")) AND mark > coalesce(
                    (SELECT max(mark) FROM listing\(dialect.index("listing_removed")) WHERE \(ofCell) AND \(dialect.isTrue("removes"))), -1)
                ORDER BY mark LIMIT 1)
            """
    }
}
