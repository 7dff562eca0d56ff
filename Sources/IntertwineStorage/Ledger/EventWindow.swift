import GRDB

/// A stretch of the ledger, short enough that clicks hardly wait for it.
struct EventWindow {
    private static let length = 250

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
        let find = try SQLStatement(
            database, "SELECT max(id), max(at) FROM (SELECT id, at FROM event WHERE id > ?1 ORDER BY id LIMIT ?2)")
        try find.bind(1, after)
        try find.bind(2, Int64(Self.length))
        let found = try find.step() && !find.isNull(0) ? (last: find.integer(0), newest: find.integer(1)) : nil
        find.reset()
        guard let found else { return nil }
        try SQLStatement(database, LedgerSchema.keepMarker).run()
        let remove = try SQLStatement(database, "DELETE FROM event WHERE id > ?1 AND id <= ?2 AND at < ?3")
        try remove.bind(1, after)
        try remove.bind(2, found.last)
        try remove.bind(3, moment)
        try remove.run()
        return Swept(removed: database.changesCount, last: found.last, isAhead: found.newest > now)
    }
}
