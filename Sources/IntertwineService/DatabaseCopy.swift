internal import Dispatch
internal import Foundation
internal import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwineStorage

/// Moves everything that is kept from files to a PostgreSQL database, or back: items, sections, takedowns, ledger, viewers' lists, signing key.
public enum DatabaseCopy {
    /// - Parameters:
    ///   - source: as `store.database` names it, as `destination`.
    ///   - told: of each table how many rows have been copied so far. From any thread.
    /// - Returns: rows by table, as both have them.
    /// - Throws: `ConfigurationError`, or `StoreError` with one line. What is there is gone on from when it is called once more.
    public static func run(
        from source: String, to destination: String, onProgress: @escaping @Sendable (_ table: String, _ rows: Int) -> Void
    ) async throws -> [(table: String, rows: Int)] {
        for database in [source, destination] where !StoreSettings.isDatabase(database) {
            let shown = StoreSettings.mayHoldPassword(database) ? "(secret)" : database
            throw ConfigurationError("'\(shown)' is no store; allowed: \(StoreSettings.allowedDatabases)")
        }
        let (from, to) = (StoreSettings(database: source), StoreSettings(database: destination))
        if try from.postgresAddress() == nil, !FileManager.default.fileExists(atPath: source) {
            throw ConfigurationError("\(source): there is no store")
        }
        to.makeDataFolder()
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "intertwine.copy").async {
                continuation.resume(
                    with: Result {
                        let copy = try StoreCopy(from: try from.databaseURL(), to: try to.databaseURL())
                        // First: who starts before all is done must make no key of its own.
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
            // Where there are no tables yet, a key is made; it does no harm there.
            try SigningKeyFile(path: to.path(of: "signing.key")).store(try PostgresSigningKeys(address).load().current)
        }
    }
}

extension StoreSettings {
    fileprivate init(database: String) {
        self.init()
        self.database = database
    }

    fileprivate func databaseURL() throws(StoreError) -> StoreCopy.DatabaseURL {
        guard let address = try postgresAddress() else { return .files(items: database, ledger: ledgerDatabase) }
        return .database(address)
    }
}
