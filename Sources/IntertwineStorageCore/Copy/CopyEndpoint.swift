/// The database that a copy reads. Its calls block.
package protocol CopySource: AnyObject {
    /// Returns the rows after a key, in key order.
    func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]]

    /// The marker of the last event that there has ever been.
    func lastMarker() throws -> Int64

    /// Leaves it to others. Nothing else is called from then on.
    func close()
}

/// The empty database that a copy fills in one transaction. Its calls block.
package protocol CopyDestination: AnyObject {
    /// Begins the transaction.
    ///
    /// - Throws: `StoreError.unusable` if the database is not empty.
    func begin() throws

    func append(_ rows: [[TableValue]], to table: TableSchema) throws

    /// Completes the copy: new rows get numbers after the copied ones.
    func finish(lastMarker: Int64) throws

    /// Leaves it to others, as it was before ``begin()`` unless the copy is complete. Nothing else is called from then on.
    func close()
}

/// A value of a column in a row.
package enum TableValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
