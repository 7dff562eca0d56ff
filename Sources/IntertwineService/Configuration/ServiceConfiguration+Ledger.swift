internal import Foundation
package import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
internal import IntertwineStorage
package import IntertwineStorageCore

/// The location of the ledger: beside the items' file, or with the items in a PostgreSQL database.
extension ServiceConfiguration {
    func openLedger(beside items: (any ItemStore)? = nil, now: (@Sendable () -> Int64)?) throws(StoreError) -> any PersistentLedger {
        let timeout = Double(ledger.writeTimeout.milliseconds) / 1_000
        guard let shared = try store.sharedDatabase() else {
            return try SQLiteLedger(
                path: store.ledgerDatabase, waiting: ledger.queue, group: ledger.batchSize, lockTimeout: timeout, reading: store.reading,
                now: now ?? SQLiteLedger.systemTime)
        }
        return try PostgresLedger(
            shared, waiting: ledger.queue, group: ledger.batchSize, timeout: timeout, reading: store.reading, beside: items, now: now)
    }

    /// Returns true if the items, and the ledger if it exists, have the current schema, so that opening them writes nothing.
    func hasCurrentDatabases() throws -> Bool {
        guard try store.items().isUpToDate() else { return false }
        guard try store.sharedDatabase() == nil, FileManager.default.fileExists(atPath: store.ledgerDatabase) else { return true }
        return try SQLiteLedger.isUpToDate(store.ledgerDatabase)
    }

    package func storedForms(of address: String, in time: Range<Int64>) throws -> [String] {
        // Only hashes need the keys of the service.
        let keys = events.address == .hashed ? try keyRing().keys : SigningKeys(current: .random())
        do { return try AddressPrivacy(mode: events.address, keys: keys).storedForms(of: address, in: time) } catch {
            throw ConfigurationError("address: \(error.rawValue)")
        }
    }

    package func existingLedger() throws(StoreError) -> (any PersistentLedger)? {
        if try store.sharedDatabase() != nil { return try openLedger(now: nil) }
        let files = FileManager.default
        if files.fileExists(atPath: store.database) || files.fileExists(atPath: store.ledgerDatabase) { try checkStoreFiles() }
        guard files.fileExists(atPath: store.ledgerDatabase) || !files.fileExists(atPath: store.database) else {
            try ItemFile(store.database).check()
            return nil
        }
        return try SQLiteLedger(existing: store.ledgerDatabase)
    }
}
