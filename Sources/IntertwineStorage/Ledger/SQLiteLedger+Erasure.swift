import GRDB
package import IntertwineFeed

/// Erasure of a viewer's data.
extension SQLiteLedger {
    /// The limit of events that are examined in one transaction.
    private static let window: Int64 = 1_000

    package func erase(viewer: String, owners: [String]) async throws -> ErasedViewer {
        var erased = try await StoreError.wrapping {
            try await commits.write { database in
                func remove(_ sql: String, _ value: String) throws -> Int {
                    try SQLStatement.run(database, sql, .text(value))
                    return database.changesCount
                }
                var erased = ErasedViewer()
                erased.listed = try remove("DELETE FROM listing WHERE viewer = ?1", viewer)
                erased.selections = try remove("DELETE FROM selection WHERE viewer = ?1", viewer)
                erased.exposures = try remove("DELETE FROM exposure WHERE viewer = ?1", viewer)
                _ = try remove("DELETE FROM claim WHERE viewer = ?1", viewer)
                _ = try remove("DELETE FROM given_page WHERE viewer = ?1", viewer)
                for owner in owners { erased.idempotencyKeys += try remove("DELETE FROM idempotency WHERE owner = ?1", owner) }
                return erased
            }
        }
        // The viewer's events remain counted, without data that identifies the viewer.
        var marker: Int64 = 0
        while let last = try await eventsEnd(after: marker) {
            let (start, end) = (marker, min(last, marker + Self.window))
            erased.events += try await StoreError.wrapping {
                try await commits.write { database in
                    try SQLStatement.run(
                        database,
                        """
                        UPDATE event SET viewer = NULL, address = NULL, user_agent = NULL, input = NULL
                        WHERE id > ?1 AND id <= ?2 AND viewer = ?3
                        """,
                        .integer(start), .integer(end), .text(viewer))
                    return database.changesCount
                }
            }
            marker = end
        }
        try await overwrite(viewer)
        return erased
    }

    /// Removes the remains of a text that is in no row from the database file and its write-ahead log.
    ///
    /// SQLite overwrites deleted content with zeros (`secure_delete`), and an emptied log contains none. Rows that were moved to another page may
    /// have left a copy in the unused space of their former page; only `VACUUM` removes those.
    ///
    /// - Throws: `StoreError.unavailable` if another process reads from the log continuously.
    private func overwrite(_ text: String) async throws {
        try await emptyLog()
        let hasCopies = try await read(for: .background) { try DatabaseBytes($0).unusedSpaceContains(Array(text.utf8)) }
        guard hasCopies else { return }
        try await StoreError.wrapping { try await commits.inTurn { try $0.vacuum() } }
        try await emptyLog()
    }

    private func emptyLog() async throws {
        var attempts = 10
        while true {
            do {
                return try await completeFile()
            } catch is StoreError where attempts > 1 {
                attempts -= 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Returns the marker of the last event, or nil if no event follows a marker.
    private func eventsEnd(after marker: Int64) async throws -> Int64? {
        try await read(for: .background) { database in
            try SQLStatement.integer(database, "SELECT max(id) FROM event WHERE id > ?1", .integer(marker))
        }
    }
}
