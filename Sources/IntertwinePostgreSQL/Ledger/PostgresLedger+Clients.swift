internal import IntertwineFeed
internal import IntertwineStorageCore

/// The capabilities that clients registered under digests.
extension PostgresLedger {
    /// Returns the capabilities of a digest; nil for an unknown digest.
    package func capabilities(of digest: String) async throws -> String? {
        try await pool.run(for: .request) { connection in
            let rows = try connection.query("SELECT capabilities FROM client WHERE digest = $1 LIMIT 1", .text(digest))
            return rows.isEmpty ? nil : rows.text(0, 0)
        }
    }

    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws {
        try await pool.run(for: .request) { connection in
            // Most clients say the same again at each start.
            let said = try connection.query("SELECT at FROM client WHERE name = $1 AND digest = $2", .text(name), .text(digest))
            if !said.isEmpty, now - said.integer(0, 0) < ClientRows.freshness { return }
            _ = try connection.transaction {
                try connection.run([
                    PostgresCommand(
                        "SELECT pg_advisory_xact_lock($1::int, $2::int)",
                        [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.clients)]),
                    PostgresCommand(
                        """
                        INSERT INTO client (name, digest, capabilities, at) VALUES ($1, $2, $3, $4)
                        ON CONFLICT (name, digest) DO UPDATE SET capabilities = excluded.capabilities, at = excluded.at
                        """, [.text(name), .text(digest), .text(capabilities), .integer(now)]),
                    PostgresCommand(
                        """
                        DELETE FROM client WHERE name = $1 AND digest NOT IN (
                            SELECT digest FROM client WHERE name = $1 ORDER BY at DESC, digest LIMIT $2)
                        """, [.text(name), .integer(ClientRows.perName)]),
                    PostgresCommand(
                        """
                        DELETE FROM client WHERE name IN (
                            SELECT name FROM client WHERE name <> $1 GROUP BY name ORDER BY max(at) DESC, name OFFSET $2)
                        """, [.text(name), .integer(ClientRows.names - 1)]),
                ])
            }
        }
    }
}
