/// The time at which the expired rows of a ledger are removed: after an interval, or after many rows were written.
package struct PurgeSchedule {
    private static let interval: Int64 = 1_000

    /// The number of written rows after which a purge must not wait for its interval.
    private let limit: Int
    private var last: Int64 = 0
    package private(set) var rowsSince = 0

    package init(limit: Int) {
        self.limit = limit
    }

    package func isDue(_ now: Int64) -> Bool { now &- last >= Self.interval || now < last }

    package mutating func isLate(after rows: Int) -> Bool {
        rowsSince += rows
        guard rowsSince >= limit else { return false }
        last = 0
        return true
    }

    package mutating func begin(at now: Int64) { (last, rowsSince) = (now, 0) }
}

package enum ExpiryPurge {
    /// The time in milliseconds (30 days) for which an expired selection is retained.
    /// Why: an undo request then receives the response "too late" instead of "unknown".
    private static let retention: Int64 = 30 * 86_400_000

    /// The end of the rate counters that are removed: the time of an SQL parameter, at most two hours after ``RetentionClock/now``.
    /// Why: while the clock is wrongly set ahead, the keys of valid tokens would be removed, and their events would count twice.
    package static func end(_ now: String, _ dialect: SQLDialect) -> String {
        "\(dialect.isPostgreSQL ? "least" : "min")(\(now), coalesce((SELECT reached + 7200000 FROM passed_time), \(now)))"
    }

    package static func statements(now: Int64, batch: Int, _ dialect: SQLDialect) -> [SQLCommand] {
        let values: [SQLValue] = [.integer(now), .integer(Int64(batch))]
        return [
            SQLCommand(undoneRemovals(dialect), values), SQLCommand(repeatedAdditions(dialect), values),
            SQLCommand(expired("exposure", "viewer, campaign, at", "until", dialect), values),
            SQLCommand(expired("idempotency", "scope, key", "expires", dialect), values),
            SQLCommand(
                expired("selection", "id", "expires", dialect), [.integer(now &- retention), .integer(Int64(batch))]),
        ]
    }

    private static func expired(_ table: String, _ key: String, _ end: String, _ dialect: SQLDialect) -> String {
        """
        DELETE FROM \(table) WHERE (\(key)) IN (
            SELECT \(key) FROM \(table) WHERE \(end) <= ?1 ORDER BY \(end) LIMIT ?2\(dialect.skipLocked))
        """
    }

    private static func undoneRemovals(_ dialect: SQLDialect) -> String {
        """
        DELETE FROM listing WHERE mark IN (
            SELECT old.mark FROM (
                SELECT viewer, list, cell, mark FROM listing\(dialect.index("listing_removal"))
                WHERE \(dialect.isTrue("removes")) AND until <= ?1 ORDER BY until LIMIT ?2) AS removal
            JOIN listing AS old\(dialect.index("listing_cell"))
            ON old.viewer = removal.viewer AND old.list = removal.list AND old.cell = removal.cell AND old.mark <= removal.mark
            \(dialect.skipLocked(of: "old")))
        """
    }

    private static func repeatedAdditions(_ dialect: SQLDialect) -> String {
        """
        DELETE FROM listing WHERE mark IN (
            SELECT mark FROM listing AS twin\(dialect.index("listing_twin"))
            WHERE \(dialect.isFalse("leads")) AND \(dialect.isFalse("removes")) AND until <= ?1 AND (
                SELECT \(dialect.isFalse("removes")) AND until <= ?1 FROM listing AS first\(dialect.index("listing_cell"))
                WHERE first.viewer = twin.viewer AND first.list = twin.list AND first.cell = twin.cell AND first.mark < twin.mark
                ORDER BY mark DESC LIMIT 1)
            ORDER BY until LIMIT ?2 \(dialect.skipLocked(of: "twin")))
        """
    }
}
