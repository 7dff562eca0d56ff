internal import Foundation
internal import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
package import IntertwineStorage

/// Where the ledger is: beside the items' file, or with the items in a PostgreSQL database.
extension ServiceConfiguration {
    /// Opens the ledger, and makes it where there is none.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC; nil for the system's clock, or the PostgreSQL server's.
    func openLedger(now: (@Sendable () -> Int64)?) throws(StoreError) -> any PersistentLedger {
        let patience = Double(ledger.writeTimeout.milliseconds) / 1_000
        guard let address = try store.postgresAddress() else {
            return try SQLiteLedger(
                path: store.ledgerDatabase, waiting: ledger.queue, group: ledger.group, lockTimeout: patience, reading: store.reading,
                now: now ?? SQLiteLedger.systemTime)
        }
        return try PostgresLedger(
            address, waiting: ledger.queue, group: ledger.group, timeout: patience, reading: store.reading, now: now)
    }

    /// Whether the items, and the ledger where there is one, are as this version keeps them: opening them writes nothing.
    func hasCurrentDatabases() throws -> Bool {
        guard try store.items().isUpToDate() else { return false }
        guard try store.postgresAddress() == nil, FileManager.default.fileExists(atPath: store.ledgerDatabase) else { return true }
        return try SQLiteLedger.isUpToDate(store.ledgerDatabase)
    }

    /// Opens a ledger that is there, for those who only read it; nil where there are items and nothing has happened to them yet.
    ///
    /// - Throws: `StoreError.unusable` where there is neither, or where what should be items is something else.
    package func existingLedger() throws(StoreError) -> (any PersistentLedger)? {
        if try store.postgresAddress() != nil { return try openLedger(now: nil) }
        let files = FileManager.default
        guard files.fileExists(atPath: store.ledgerDatabase) || !files.fileExists(atPath: store.database) else {
            try ItemFile(store.database).check()
            return nil
        }
        return try SQLiteLedger(existing: store.ledgerDatabase)
    }
}
