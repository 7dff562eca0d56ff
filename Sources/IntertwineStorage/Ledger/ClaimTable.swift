import GRDB
internal import IntertwineFeed

/// The table `claim`: the ads with frequency caps that each process has served to viewers, shared with other processes.
enum ClaimTable {
    /// The limit of expired rows of each table that are deleted with each new row.
    private static let swept = 100

    static func served(to viewer: String, besides process: String, now: Int64, _ database: any SQLConnection) throws -> [FrequencyCount] {
        let find = try SQLStatement(
            database,
            "SELECT campaign, at, count FROM claim WHERE viewer = ?1 AND process != ?2 AND until > ?3 ORDER BY campaign, at LIMIT 10000")
        defer { find.reset() }
        try find.bind(1, viewer)
        try find.bind(2, process)
        try find.bind(3, now)
        var frequencies: [FrequencyCount] = []
        while try find.step() {
            frequencies.append(FrequencyCount(campaign: find.text(0), at: find.integer(1), count: Int(find.integer(2))))
        }
        return frequencies
    }

    static func page(_ key: Int64, of viewer: String, now: Int64, _ database: any SQLConnection) throws -> [UInt8]? {
        let find = try SQLStatement(database, "SELECT given FROM given_page WHERE viewer = ?1 AND page = ?2 AND until > ?3")
        defer { find.reset() }
        try find.bind(1, viewer)
        try find.bind(2, key)
        try find.bind(3, now)
        return try find.step() ? find.bytes(0) : nil
    }

    /// Adds a reservation. Call it within a write transaction.
    ///
    /// - Returns: false if another process has served ads to the viewer that the reservation does not take into account.
    static func add(_ claim: FrequencyCapReservation, _ database: Database) throws -> Bool {
        let known = try served(to: claim.viewer, besides: claim.process, now: claim.now, database).reduce(0) { $0 + $1.count }
        guard claim.counts.isEmpty || known == claim.known else { return false }
        try SQLStatement.run(
            database,
            """
            DELETE FROM claim WHERE (viewer, process, campaign, at) IN (
                SELECT viewer, process, campaign, at FROM claim WHERE until <= ?1 ORDER BY until LIMIT \(swept))
            """, .integer(claim.now))
        try SQLStatement.run(
            database,
            """
            DELETE FROM given_page WHERE (viewer, page) IN (
                SELECT viewer, page FROM given_page WHERE until <= ?1 ORDER BY until LIMIT \(swept))
            """, .integer(claim.now))
        let insert = try SQLStatement(
            database,
            """
            INSERT INTO claim (viewer, process, campaign, at, count, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (viewer, process, campaign, at) DO UPDATE SET count = count + excluded.count, until = excluded.until
            """)
        let page = try SQLStatement(
            database,
            """
            INSERT INTO given_page (viewer, page, given, until) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (viewer, page) DO UPDATE SET given = excluded.given, until = excluded.until
            """)
        try page.bind(1, claim.viewer)
        try page.bind(2, claim.page.key)
        try page.bind(3, blob: claim.page.served)
        try page.bind(4, claim.until)
        try page.run()
        for (campaign, count) in claim.counts {
            try insert.bind(1, claim.viewer)
            try insert.bind(2, claim.process)
            try insert.bind(3, campaign)
            try insert.bind(4, claim.now)
            try insert.bind(5, Int64(count))
            try insert.bind(6, claim.until)
            try insert.run()
        }
        return true
    }
}
