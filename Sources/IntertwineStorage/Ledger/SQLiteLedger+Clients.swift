import GRDB
import IntertwineFeed

/// Registered client capabilities.
extension SQLiteLedger {
    /// Returns the registered capabilities of a digest, or nil.
    package func capabilities(of digest: String) async throws -> String? {
        try await read { database in
            let find = try SQLStatement(database, "SELECT capabilities FROM client INDEXED BY client_digest WHERE digest = ?1 LIMIT 1")
            defer { find.reset() }
            try find.bind(1, digest)
            return try find.step() ? find.text(0) : nil
        }
    }

    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws {
        // Most clients register equal capabilities at each start.
        let said = try await read { database in
            try SQLStatement.integer(database, "SELECT at FROM client WHERE name = ?1 AND digest = ?2", .text(name), .text(digest))
        }
        if let said, now - said < ClientRows.freshness { return }
        try await StoreError.wrapping {
            try await commits.write { database in
                try SQLStatement.run(
                    database, "INSERT OR REPLACE INTO client (name, digest, capabilities, at) VALUES (?1, ?2, ?3, ?4)", .text(name),
                    .text(digest), .text(capabilities), .integer(now))
                try SQLStatement.run(
                    database,
                    """
                    DELETE FROM client WHERE name = ?1 AND digest NOT IN (
                        SELECT digest FROM client WHERE name = ?1 ORDER BY at DESC, digest LIMIT ?2)
                    """, .text(name), .integer(ClientRows.perName))
                try SQLStatement.run(
                    database,
                    """
                    DELETE FROM client WHERE name IN (
                        SELECT name FROM client WHERE name <> ?1 GROUP BY name ORDER BY max(at) DESC, name LIMIT -1 OFFSET ?2)
                    """, .text(name), .integer(ClientRows.names - 1))
            }
        }
    }
}
