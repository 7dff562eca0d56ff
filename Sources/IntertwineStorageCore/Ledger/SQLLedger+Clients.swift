internal import IntertwineFeed

/// Registered client capabilities.
extension SQLLedger {
    package func capabilities(of digest: String) async throws -> String? {
        try await reading(for: .request) { session in
            try session.first("SELECT capabilities FROM client WHERE digest = ?1 LIMIT 1", .text(digest)) { $0.text(0) }
        }
    }

    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws {
        let now = corrected(now)
        // Most clients register equal capabilities at each start.
        let said = try await reading(for: .request) { session in
            try session.integer("SELECT at FROM client WHERE name = ?1 AND digest = ?2", .text(name), .text(digest))
        }
        if let said, now - said < ClientRows.freshness { return }
        try await writing(isDurable: true, .clients) { session in
            _ = try session.run([
                SQLCommand(
                    """
                    INSERT INTO client (name, digest, capabilities, at) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT (name, digest) DO UPDATE SET capabilities = excluded.capabilities, at = excluded.at
                    """, [.text(name), .text(digest), .text(capabilities), .integer(now)]),
                SQLCommand(
                    """
                    DELETE FROM client WHERE name = ?1 AND digest NOT IN (
                        SELECT digest FROM client WHERE name = ?1 ORDER BY at DESC, digest LIMIT ?2)
                    """, [.text(name), .integer(ClientRows.perName)]),
                SQLCommand(
                    """
                    DELETE FROM client WHERE name IN (
                        SELECT name FROM client WHERE name <> ?1 GROUP BY name ORDER BY max(at) DESC, name LIMIT ?2 OFFSET ?3)
                    """, [.text(name), .integer(.max), .integer(ClientRows.names - 1)]),
            ]) { _, _ in }
        }
    }
}
