package import IntertwineFeed

/// The table `claim`: the ads with frequency caps that each process has served to viewers, shared with other processes.
package enum ClaimTable {
    /// The limit of expired rows of each table that are deleted with each new row.
    private static let purged = 100

    static func served(to viewer: String, besides process: String, now: Int64, _ session: some SQLSession) throws -> [FrequencyCount] {
        try session.rows(
            "SELECT campaign, at, count FROM claim WHERE viewer = ?1 AND process <> ?2 AND until > ?3 ORDER BY campaign, at LIMIT 10000",
            .text(viewer), .text(process), .integer(now)
        ) { FrequencyCount(campaign: $0.text(0), at: $0.integer(1), count: Int($0.integer(2))) }
    }

    /// Adds a reservation. Call it within a write transaction that has the lock of the viewer.
    ///
    /// - Returns: false if another process has served ads to the viewer that the reservation does not take into account.
    package static func add<Session: SQLSession>(_ claim: FrequencyCapReservation, _ session: Session) throws -> Bool {
        let known = try served(to: claim.viewer, besides: claim.process, now: claim.now, session).reduce(0) { $0 + $1.count }
        guard claim.counts.isEmpty || known == claim.known else { return false }
        let counts = claim.counts.sorted { $0.key < $1.key }
        try session.run([
            purge("claim", "viewer, process, campaign, at", claim.now, Session.dialect),
            purge("given_page", "viewer, page", claim.now, Session.dialect),
            SQLCommand(
                """
                INSERT INTO given_page (viewer, page, given, until) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (viewer, page) DO UPDATE SET given = excluded.given, until = excluded.until
                """, [.text(claim.viewer), .integer(claim.page.key), .bytes(claim.page.served), .integer(claim.until)]),
            SQLCommand(
                """
                INSERT INTO claim AS old (campaign, count, viewer, process, at, until) \(Session.dialect.values(2, and: 4))
                ON CONFLICT (viewer, process, campaign, at) DO UPDATE SET count = old.count + excluded.count, until = excluded.until
                """,
                [
                    .texts(counts.map(\.key)), .integers(counts.map { Int64($0.value) }), .text(claim.viewer), .text(claim.process),
                    .integer(claim.now), .integer(claim.until),
                ]),
        ]) { _, _ in }
        return true
    }

    private static func purge(_ table: String, _ key: String, _ now: Int64, _ dialect: SQLDialect) -> SQLCommand {
        SQLCommand(
            """
            DELETE FROM \(table) WHERE (\(key)) IN (
                SELECT \(key) FROM \(table) WHERE until <= ?1 ORDER BY until LIMIT ?2\(dialect.skipLocked))
            """, [.integer(now), .integer(Int64(purged))])
    }
}
