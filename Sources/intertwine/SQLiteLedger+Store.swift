import Foundation
import IntertwineService
import IntertwineStorage

extension SQLiteLedger {
    /// The ledger of a store; nil where there are items and nothing has happened to them yet.
    ///
    /// - Throws: `StoreError.unusable` where there is neither.
    convenience init?(of store: StoreSettings) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: store.ledgerDatabase) || !files.fileExists(atPath: store.database) else { return nil }
        try self.init(existing: store.ledgerDatabase)
    }
}
