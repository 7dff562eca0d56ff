package import IntertwineFeed

/// The table `claim`: the ads with frequency caps that each process has served to viewers, shared with other processes.
extension FrequencyCapReservation {
    private static let purged: Int64 = 100

    static func served(to viewer: String, besides process: String, now: Int64, _ session: some SQLSession) throws -> [FrequencyCount] {
        try session.rows(
            "SELECT campaign, at, count FROM claim WHERE viewer = ?1 AND process <> ?2 AND until > ?3 ORDER BY campaign, at LIMIT 10000",
            .text(viewer), .text(process), .integer(now)
        ) { FrequencyCount(campaign: $0.text(0), at: $0.integer(1), count: Int($0.integer(2))) }
    }

    /// Call it within a write transaction that has the lock of the viewer.
    package func record<Session: SQLSession>(in session: Session) throws -> Bool {
        let others = try Self.served(to: viewer, besides: process, now: now, session).reduce(0) { $0 + $1.count }
        guard counts.isEmpty || others == known else { return false }
        let rows = counts.sorted { $0.key < $1.key }
        try session.run([
            Self.purge("claim", "viewer, process, campaign, at", now, Session.dialect),
            Self.purge("given_page", "viewer, page", now, Session.dialect),
            SQLCommand(
                """
                INSERT INTO given_page (viewer, page, given, until) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (viewer, page) DO UPDATE SET given = excluded.given, until = excluded.until
                """, [.text(viewer), .integer(page.key), .bytes(page.served), .integer(until)]),
            SQLCommand(
                """
                INSERT INTO claim AS old (campaign, count, viewer, process, at, until) \(Session.dialect.values(2, and: 4))
                ON CONFLICT (viewer, process, campaign, at) DO UPDATE SET count = old.count + excluded.count, until = excluded.until
                """,
                [
                    .texts(rows.map(\.key)), .integers(rows.map { Int64($0.value) }), .text(viewer), .text(process),
                    .integer(now), .integer(until),
                ]),
        ]) { _, _ in }
        return true
    }

    private static func purge(_ table: String, _ key: String, _ now: Int64, _ dialect: SQLDialect) -> SQLCommand {
        SQLCommand(
            """
            DELETE FROM \(table) WHERE (\(key)) IN (
                SELECT \(key) FROM \(table) WHERE until <= ?1 ORDER BY until LIMIT ?2\(dialect.skipLocked))
            """, [.integer(now), .integer(purged)])
    }
}
