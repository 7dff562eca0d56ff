internal import IntertwineFeed

/// Registered client capabilities.
extension SQLLedger {
    private var nameLimit: Int64 { 1_000 }
    /// The limit of digests for each name; the oldest ones are removed.
    private var digestLimit: Int64 { 8 }
    /// The time in milliseconds within which an equal registration writes nothing.
    private var freshness: Int64 { 86_400_000 }

    package func capabilities(of digest: String) async throws -> String? {
        try await reading(for: .request) { session in
            try session.first("SELECT capabilities FROM client WHERE digest = ?1 LIMIT 1", .text(digest)) { $0.text(0) }
        }
    }

    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws {
        // Most clients register equal capabilities at each start.
        let said = try await reading(for: .request) { session in
            try session.integer("SELECT at FROM client WHERE name = ?1 AND digest = ?2", .text(name), .text(digest))
        }
        if let said, now - said < freshness { return }
        let (nameLimit, digestLimit) = (nameLimit, digestLimit)
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
                    """, [.text(name), .integer(digestLimit)]),
                SQLCommand(
                    """
                    DELETE FROM client WHERE name IN (
                        SELECT name FROM client WHERE name <> ?1 GROUP BY name ORDER BY max(at) DESC, name LIMIT ?2 OFFSET ?3)
                    """, [.text(name), .integer(.max), .integer(nameLimit - 1)]),
            ]) { _, _ in }
        }
    }
}
