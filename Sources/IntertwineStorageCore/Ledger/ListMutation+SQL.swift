package import IntertwineFeed

/// The table `listing`: additions to viewers' lists, and removals from them.
///
/// Each change has a row, so that each can be undone on its own. A cell is on a list if an addition follows its last removal.
/// The oldest of these additions is the leader, which determines the cell's position.
/// Once the leader cannot be undone, the cell stays until it is removed, and further additions write no rows: repetition does not grow lists.
///
/// No statement needs the result of an earlier one, so all of them share the round trip of a group.
extension ListMutation {
    /// The statements of the change.
    ///
    /// - Parameter until: the time after which the change cannot be undone.
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

/// The texts of the statements, which are made once for each database.
private struct ListStatements: Sendable {
    private static let sqlite = ListStatements(.sqlite)
    private static let postgres = ListStatements(.postgres)

    static func of(_ dialect: SQLDialect) -> ListStatements { dialect.isSetWise ? postgres : sqlite }

    let add: String
    let remove: String
    let forget: String
    let revert: String
    let demote: String
    let promote: String

    private init(_ dialect: SQLDialect) {
        let ofCell = "viewer = ?1 AND list = ?2 AND cell = ?3"
        let leader = "listing\(dialect.index("listing_leader")) WHERE \(ofCell) AND \(dialect.isTrue("leads"))"
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
