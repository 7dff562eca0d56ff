import GRDB
internal import IntertwineItems
package import IntertwineLedger

/// Erasure of a viewer's data.
extension SQLiteLedger {
    package func erase(viewer: String, owners: [String]) async throws -> ErasedViewer {
        let erased = try await eraseRows(of: viewer, owners: owners)
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
}
