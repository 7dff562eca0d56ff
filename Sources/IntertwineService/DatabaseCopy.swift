internal import Dispatch
internal import Foundation
internal import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
internal import IntertwineStorage

package enum DatabaseCopy {
    package static func run(
        from source: String, to destination: String, onProgress: @escaping @Sendable (_ table: String, _ rows: Int) -> Void
    ) async throws -> [(table: String, rows: Int)] {
        for database in [source, destination] where !StoreSettings.isDatabase(database) {
            let shown = StoreSettings.mayHoldPassword(database) ? "(secret)" : database
            throw ConfigurationError("'\(shown)' is not a store; allowed: \(StoreSettings.allowedDatabases)")
        }
        let (from, to) = (StoreSettings(database: source), StoreSettings(database: destination))
        if try from.sharedDatabase() == nil, !FileManager.default.fileExists(atPath: source) {
            throw ConfigurationError("\(source): no store exists")
        }
        guard try (from.sharedDatabase() == nil) != (to.sharedDatabase() == nil) else {
            throw StoreError.unusable("a copy goes from a file to a PostgreSQL database, or back")
        }
        to.makeDataFolder()
        return try await DispatchQueue(label: "intertwine.copy").perform {
            let copy = StoreCopy(from: try from.copySource(), to: try to.copyDestination())
            // Keys come first, so that a service that starts on an incomplete copy creates no key of its own.
            try copyKeys(from, to)
            return try copy.run(onProgress)
        }
    }

    private static func copyKeys(_ from: StoreSettings, _ to: StoreSettings) throws {
        if let shared = try to.sharedDatabase() {
            let file = SigningKeyFile(path: from.path(of: "signing.key"))
            if let key = try file.read() { try PostgresSigningKeys.store(key, at: shared) }
        } else if let shared = try from.sharedDatabase() {
            // Without tables, this call creates a key, which does no harm.
            try SigningKeyFile(path: to.path(of: "signing.key")).store(try PostgresSigningKeys(shared).load().current)
        }
    }
}

extension StoreSettings {
    fileprivate init(database: String) {
        self.init()
        self.database = database
    }

    fileprivate func copySource() throws(StoreError) -> any CopySource {
        if let shared = try sharedDatabase() { return try PostgresCopyEndpoint(shared) }
        return try CopiedFiles(items: database, ledger: ledgerDatabase)
    }

    fileprivate func copyDestination() throws(StoreError) -> any CopyDestination {
        if let shared = try sharedDatabase() { return try PostgresCopyEndpoint(shared) }
        return NewFiles(items: database, ledger: ledgerDatabase)
    }
}
