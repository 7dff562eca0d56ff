import GRDB

/// A stretch of the ledger, short enough that clicks hardly wait for it.
struct EventWindow {
    private static let length = 2_000

    /// A marker: the stretch begins behind it.
    let after: Int64

    struct Swept {
        var removed: Int
        /// The marker of the stretch's last event.
        var last: Int64
        /// Whether an event is of a time that has not come yet: the clock was ahead then, and older ones may stand behind it.
        var isAhead: Bool
    }

    /// Removes what is older than a moment; nil where no event stands behind the marker.
    func remove(before moment: Int64, now: Int64, _ database: Database) throws -> Swept? {
        guard
            let row = try Row.fetchOne(
                database,
                sql: "SELECT max(id) AS last, max(at) AS newest FROM (SELECT id, at FROM event WHERE id > ? ORDER BY id LIMIT ?)",
                arguments: [after, Self.length]), let last = row["last"] as Int64?, let newest = row["newest"] as Int64?
        else { return nil }
        try database.execute(sql: LedgerSchema.keepMarker)
        try database.execute(sql: "DELETE FROM event WHERE at < ? AND id > ? AND id <= ?", arguments: [moment, after, last])
        return Swept(removed: database.changesCount, last: last, isAhead: newest > now)
    }
}
