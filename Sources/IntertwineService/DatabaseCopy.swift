internal import Dispatch
internal import Foundation
internal import IntertwineItems
internal import IntertwineLedger
internal import IntertwinePostgreSQL
internal import IntertwineStorage

/// Copies all stored data from files to a PostgreSQL database or back.
///
/// The data are items, sections, takedowns, ledger, viewers' lists and the signing key.
public enum DatabaseCopy {
    /// Copies the data. If the copy was interrupted, another call continues it.
    ///
    /// - Parameters:
    ///   - source: The source database in the format of `store.database`, like `destination`.
    ///   - onProgress: Called on any thread with the number of copied rows per table.
    /// - Returns: The number of rows per table, equal in both databases.
    /// - Throws: `ConfigurationError`, or `StoreError` with one line.
    public static func run(
        from source: String, to destination: String, onProgress: @escaping @Sendable (_ table: String, _ rows: Int) -> Void
    ) async throws -> [(table: String, rows: Int)] {
        for database in [source, destination] where !StoreSettings.isDatabase(database) {
            let shown = StoreSettings.mayHoldPassword(database) ? "(secret)" : database
            throw ConfigurationError("'\(shown)' is not a store; allowed: \(StoreSettings.allowedDatabases)")
        }
        let (from, to) = (StoreSettings(database: source), StoreSettings(database: destination))
        if try from.postgresAddress() == nil, !FileManager.default.fileExists(atPath: source) {
            throw ConfigurationError("\(source): no store exists")
        }
        guard try (from.postgresAddress() == nil) != (to.postgresAddress() == nil) else {
            throw StoreError.unusable("a copy goes from a file to a PostgreSQL database, or back")
        }
        to.makeDataFolder()
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "intertwine.copy").async {
                continuation.resume(
                    with: Result {
                        let copy = StoreCopy(from: try from.copyEndpoint(), to: try to.copyEndpoint())
                        // Keys come first, so that a service that starts on an incomplete copy creates no key of its own.
                        try copyKeys(from, to)
                        return try copy.run(onProgress)
                    })
            }
        }
    }

    private static func copyKeys(_ from: StoreSettings, _ to: StoreSettings) throws {
        if let address = try to.postgresAddress() {
            let file = SigningKeyFile(path: from.path(of: "signing.key"))
            if let key = try file.read() { try PostgresSigningKeys.store(key, at: address) }
        } else if let address = try from.postgresAddress() {
            // Without tables, this call creates a key, which does no harm.
            try SigningKeyFile(path: to.path(of: "signing.key")).store(try PostgresSigningKeys(address).load().current)
        }
    }
}

extension StoreSettings {
    fileprivate init(database: String) {
        self.init()
        self.database = database
    }

    fileprivate func copyEndpoint() throws(StoreError) -> any CopyEndpoint {
        guard let address = try postgresAddress() else { return try FileCopyEndpoint(items: database, ledger: ledgerDatabase) }
        return try PostgresCopyEndpoint(address)
    }
}
