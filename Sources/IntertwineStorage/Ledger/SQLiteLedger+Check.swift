import GRDB

/// The file check of the ledger. Events are written once, so blocks of them share a digest, which is written after the commits without
/// additional cost for them.
extension SQLiteLedger: CheckedFile {
    package var checkProgress: CheckProgress {
        var progress = check.progress
        progress.isDamaged = commits.file.integrity.damage != nil
        return progress
    }

    package func checkSome() async -> CheckStep {
        await check.step(commits.file, connections, rows: Self.checkRows, seal: Self.seal) { transaction in
            _ = try? await commits.sweep(transaction)
        }
    }

    private static let blocksPerStep = 8

    static func checkRows(_ connection: any SQLConnection, after key: [Int64]) throws -> RowsChecked<Int64> {
        var checked = RowsChecked<Int64>()
        var marker = key[0]
        guard let last = try SQLStatement.integer(connection, "SELECT max(id) FROM event") else { return checked }
        for _ in 0..<blocksPerStep {
            // Events may have been removed, so the next existing one is found.
            let next = try SQLStatement.integer(connection, "SELECT min(id) FROM event WHERE id > ?1", .integer(marker))
            guard let next else { return checked }
            marker = EventDigests.end(of: next)
            let digest = try EventDigests.digest(endingAt: marker, connection)
            checked.bytes += digest.bytes
            let stored = try SQLStatement.integer(connection, "SELECT digest FROM event_digest WHERE last = ?1", .integer(marker))
            if let stored, stored != digest.value {
                checked.damage = "events \(marker - EventDigests.length + 1) to \(marker) do not match their digest"
                return checked
            }
            if stored == nil, marker <= last { checked.unsealed = (checked.unsealed ?? []) + [marker] }
        }
        (checked.next, checked.share) = ([marker], Double(marker) / Double(last))
        return checked
    }

    private static func seal(_ ends: [Int64], _ database: Database) throws {
        for end in ends {
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO event_digest (last, digest) VALUES (?1, ?2)", .integer(end),
                .integer(try EventDigests.digest(endingAt: end, database).value))
        }
    }
}

/// Digests of blocks of events. Triggers delete the digest of a block if one of its events is changed or removed.
enum EventDigests {
    /// The number of markers in a block: from a multiple of it (exclusive) to the next (inclusive).
    static let length: Int64 = 256

    /// Creates the table and its triggers. Repeat it after each migration that writes to columns of events.
    static let schema = """
        CREATE TABLE IF NOT EXISTS event_digest (last INTEGER PRIMARY KEY, digest INTEGER NOT NULL);
        CREATE TRIGGER IF NOT EXISTS event_changed AFTER UPDATE ON event BEGIN
            DELETE FROM event_digest WHERE last = (old.id + \(length - 1)) / \(length) * \(length);
        END;
        CREATE TRIGGER IF NOT EXISTS event_removed AFTER DELETE ON event BEGIN
            DELETE FROM event_digest WHERE last = (old.id + \(length - 1)) / \(length) * \(length);
        END;
        """

    /// Returns the last marker of the block that contains an event.
    static func end(of marker: Int64) -> Int64 { (marker + length - 1) / length * length }

    /// Returns the digest of the existing events of a block, and their size in bytes.
    static func digest(endingAt end: Int64, _ connection: some SQLConnection) throws -> (value: Int64, bytes: Int) {
        let statement = try SQLStatement(connection, "SELECT * FROM event WHERE id > ?1 AND id <= ?2 ORDER BY id")
        defer { statement.reset() }
        try statement.bind(1, end - length)
        try statement.bind(2, end)
        var (digest, bytes) = (RowDigest(), 0)
        while try statement.step() {
            digest.add(row: statement)
            for column in 0..<statement.columns { bytes += statement.view(column).count }
        }
        return (digest.value, bytes)
    }
}
