internal import IntertwineFeed

extension PersistentLedger {
    private var nameLimit: Int64 { 1_000 }
    private var digestLimit: Int64 { 8 }
    /// The time in milliseconds within which an equal registration writes nothing.
    private var freshness: Int64 { 86_400_000 }
    /// The difference between the stored times of used and unused registrations. Why: every client may register, and unused registrations
    /// are evicted before all used ones.
    private var unused: Int64 { 1 << 60 }

    package func capabilities(of digest: String) async throws -> String? {
        try await reading(for: .request) { session in
            try session.first("SELECT capabilities FROM client WHERE digest = ?1 LIMIT 1", .text(digest)) { $0.text(0) }
        }
    }

    package func use(client digest: String) async throws {
        try await writing(isDurable: false, .clients) { [unused] session in
            _ = try session.run([
                SQLCommand("UPDATE client SET at = at + ?2 WHERE digest = ?1 AND at < 0", [.text(digest), .integer(unused)])
            ]) { _, _ in }
        }
    }

    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws {
        // Most clients register equal capabilities at each start.
        let said = try await reading(for: .request) { session in
            try session.integer("SELECT at FROM client WHERE name = ?1 AND digest = ?2", .text(name), .text(digest))
        }
        if let said, now - (said < 0 ? said + unused : said) < freshness { return }
        let (nameLimit, digestLimit, unused) = (nameLimit, digestLimit, unused)
        try await writing(isDurable: true, .clients) { session in
            _ = try session.run([
                SQLCommand(
                    """
                    INSERT INTO client (name, digest, capabilities, at) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT (name, digest) DO UPDATE SET capabilities = excluded.capabilities,
                        at = CASE WHEN client.at < 0 THEN excluded.at ELSE excluded.at + ?5 END
                    """, [.text(name), .text(digest), .text(capabilities), .integer(now - unused), .integer(unused)]),
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
