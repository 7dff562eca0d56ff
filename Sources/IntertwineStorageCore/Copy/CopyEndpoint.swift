package protocol CopySource: AnyObject {
    func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]]

    func lastMarker() throws -> Int64

    func close()
}

package protocol CopyDestination: AnyObject {
    func begin() throws

    func append(_ rows: [[TableValue]], to table: TableSchema) throws

    func finish(lastMarker: Int64) throws

    /// Leaves it to others, as it was before ``begin()`` unless the copy is complete.
    func close()
}

package enum TableValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}
