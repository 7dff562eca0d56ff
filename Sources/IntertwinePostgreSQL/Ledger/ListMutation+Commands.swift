internal import IntertwineFeed
internal import IntertwineStorageCore

/// The SQL commands of changes to viewers' lists. Rows have the meaning that they have in `ListEntryTable` of the SQLite ledger.
///
/// No command needs the result of an earlier one, so all of them are sent with the rest of a group in one round trip.
extension ListMutation {
    private static let ofCell = "viewer = $1 AND list = $2 AND cell = $3"

    private static let add = """
        INSERT INTO listing (viewer, list, cell, performance, at, until, leads, removes)
        SELECT $1, $2, $3, $4, $5, $6, leader.until IS NULL, false
        FROM (SELECT) AS one LEFT JOIN (SELECT until FROM listing WHERE \(ofCell) AND leads) AS leader ON true
        WHERE leader.until IS NULL OR leader.until > $7
        ON CONFLICT (viewer, list, cell, performance) DO NOTHING
        """

    private static let remove = """
        INSERT INTO listing (viewer, list, cell, performance, at, until, leads, removes)
        SELECT $1, $2, $3, $4, $5, $6, false, true WHERE EXISTS (SELECT FROM listing WHERE \(ofCell))
        ON CONFLICT (viewer, list, cell, performance) DO NOTHING
        """

    private static let promote = """
        UPDATE listing SET leads = true WHERE mark = (
            SELECT mark FROM listing WHERE \(ofCell) AND NOT removes
            AND mark > coalesce((SELECT max(mark) FROM listing WHERE \(ofCell) AND removes), -1)
            ORDER BY mark LIMIT 1)
        """

    /// - Parameter until: when what makes the change can be taken back no more.
    func commands(until: Int64, now: Int64) -> [SQLCommand] {
        switch self {
        case .add(let list, let viewer, let cell, let performance, let at):
            return [
                SQLCommand(
                    Self.add,
                    [
                        .text(viewer), .text(list.rawValue), .text(cell), .text(performance), .integer(at), .integer(until), .integer(now),
                    ])
            ]
        case .remove(let list, let viewer, let cell, let performance, let at):
            let entryKey: [SQLValue] = [.text(viewer), .text(list.rawValue), .text(cell)]
            if until <= now { return [SQLCommand("DELETE FROM listing WHERE \(Self.ofCell)", entryKey)] }
            return [
                SQLCommand(Self.remove, entryKey + [.text(performance), .integer(at), .integer(until)]),
                SQLCommand("UPDATE listing SET leads = false WHERE \(Self.ofCell) AND leads", entryKey),
            ]
        case .revert(let list, let viewer, let cell, let performance):
            let entryKey: [SQLValue] = [.text(viewer), .text(list.rawValue), .text(cell)]
            return [
                SQLCommand("DELETE FROM listing WHERE \(Self.ofCell) AND performance = $4", entryKey + [.text(performance)]),
                SQLCommand("UPDATE listing SET leads = false WHERE \(Self.ofCell) AND leads", entryKey),
                SQLCommand(Self.promote, entryKey),
            ]
        }
    }
}
