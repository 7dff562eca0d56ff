import GRDB
import IntertwineFeed

/// What clients registered under their names.
extension SQLiteLedger {
    /// Rows in all, and of one name: older ones of the name make room.
    private static let clientLimit: Int64 = 1_000
    private static let perName: Int64 = 8

    /// What a digest stands for; nil where nobody registered it.
    package func capabilities(of digest: String) async throws -> String? {
        try await read { database in
            let find = try SQLStatement(database, "SELECT capabilities FROM client INDEXED BY client_digest WHERE digest = ?1 LIMIT 1")
            defer { find.reset() }
            try find.bind(1, digest)
            return try find.step() ? find.text(0) : nil
        }
    }

    /// Keeps what a client can show; on disk when it returns.
    ///
    /// - Returns: false where there is no room for another name.
    package func register(client name: String, digest: String, capabilities: String, now: Int64) async throws -> Bool {
        // Most clients say the same again at each start.
        let isKnown = try await read { database in
            try SQLStatement.integer(
                database, "SELECT 1 FROM client WHERE name = ?1 AND digest = ?2", .text(name), .text(digest)) != nil
        }
        if isKnown { return true }
        return try await StoreError.wrapping {
            try await commits.write { database in
                let own = try SQLStatement.integer(database, "SELECT count(*) FROM client WHERE name = ?1", .text(name)) ?? 0
                if own == 0 {
                    let all = try SQLStatement.integer(database, "SELECT count(*) FROM client") ?? 0
                    guard all < Self.clientLimit else { return false }
                }
                try SQLStatement.run(
                    database, "INSERT OR REPLACE INTO client (name, digest, capabilities, at) VALUES (?1, ?2, ?3, ?4)", .text(name),
                    .text(digest), .text(capabilities), .integer(now))
                try SQLStatement.run(
                    database,
                    """
                    DELETE FROM client WHERE name = ?1 AND digest NOT IN (
                        SELECT digest FROM client WHERE name = ?1 ORDER BY at DESC, digest LIMIT ?2)
                    """, .text(name), .integer(Self.perName))
                return true
            }
        }
    }
}
