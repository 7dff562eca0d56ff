/// A set of cells at one moment, for membership checks; valid only inside the call that receives it.
public protocol CellSet {
    /// Returns true if the set contains the cell with an id, such as `user:1`.
    ///
    /// - Throws: `StoreError.unavailable(_:)` if the ledger cannot be read.
    func contains(_ cell: String) throws -> Bool

    /// Returns a number that changes whenever a cell is removed from the set; nil if unknown.
    ///
    /// It may also change for removals from other viewers' sets. A cell that was in the set is still in it as long as the number is equal.
    func removalGeneration() throws -> Int64?
}

extension CellSet {
    /// Returns nil, for sets that do not record removals. Ranges of dismissed cells are then not cached.
    public func removalGeneration() throws -> Int64? { nil }
}
