/// A set of cells at one moment, for membership checks; valid only inside the call that receives it.
package protocol CellSet {
    /// Returns true if the set contains the cell with an id, such as `user:1`.
    ///
    /// - Throws: `StoreError.unavailable(_:)` if the ledger cannot be read.
    func contains(_ cell: String) throws -> Bool
}
