internal import IntertwineFeed

/// What clients registered under their names.
extension PostgresLedger {
    /// Rows in all, and of one name: older ones of the name make room.
    private static let clientLimit: Int64 = 1_000
    private static let perName: Int64 = 8

    /// What a digest stands for; nil where nobody registered it.
    package func capabilities(of digest: String) async throws -> String? {
        try await pool.run(for: .request) { connection in
            let rows = try connection.query("SELECT capabilities FROM client WHERE digest = $1 LIMIT 1", .text(digest))
            return rows.isEmpty ? nil : rows.text(0, 0)
        }
    }

    /// Keeps what a client can show; on disk when it returns.
    ///
    /// - Returns: false where there is no room for another name.
    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws -> Bool {
        try await pool.run(for: .request) { connection in
            // Most clients say the same again at each start.
            guard try connection.query("SELECT FROM client WHERE name = $1 AND digest = $2", .text(name), .text(digest)).isEmpty else {
                return true
            }
            return try connection.transaction {
                let rows = try connection.run([
                    PostgresCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                        [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.clients)]),
                    PostgresCommand("SELECT count(*) FROM client WHERE name = $1", [.text(name)]),
                    PostgresCommand("SELECT count(*) FROM client"),
                ])
                guard rows[1].integer(0, 0) > 0 || rows[2].integer(0, 0) < Self.clientLimit else { return false }
                try connection.run([
                    PostgresCommand(
                        """
                        INSERT INTO client (name, digest, capabilities, at) VALUES ($1, $2, $3, $4)
                        ON CONFLICT (name, digest) DO UPDATE SET capabilities = excluded.capabilities, at = excluded.at
                        """, [.text(name), .text(digest), .text(capabilities), .integer(now)]),
                    PostgresCommand(
                        """
                        DELETE FROM client WHERE name = $1 AND digest NOT IN (
                            SELECT digest FROM client WHERE name = $1 ORDER BY at DESC, digest LIMIT $2)
                        """, [.text(name), .integer(Self.perName)]),
                ])
                return true
            }
        }
    }
}
