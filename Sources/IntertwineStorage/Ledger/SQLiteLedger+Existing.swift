import Foundation
public import IntertwineFeed

extension SQLiteLedger {
    /// Opens a ledger that is there; for those who only read it.
    ///
    /// - Throws: `StoreError.unusable` where there is none.
    public convenience init(existing path: String) throws(StoreError) {
        guard FileManager.default.fileExists(atPath: path) else { throw .unusable("\(path): there is no ledger") }
        try self.init(path: path)
    }
}
