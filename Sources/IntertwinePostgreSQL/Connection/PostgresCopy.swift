/// Rows on their way into a table. Whatever happens, ``end()`` or ``cancel()`` is to be called before the connection is used for anything
/// else.
package final class PostgresCopy {
    /// Bytes that are sent at once.
    private static let pieceSize = 1 << 16

    private let connection: PostgresConnection
    /// Signature, flags, and nothing between them and the first row.
    private var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// - Parameter values: in the order and of the types of the columns that are copied into.
    package func row(_ values: [PostgresValue]) throws(PostgresError) {
        PostgresValue.append(Int16(clamping: values.count), to: &bytes)
        for value in values { value.writeWithLength(to: &bytes) }
        guard bytes.count >= Self.pieceSize else { return }
        try connection.putCopy(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// - Returns: how many rows were taken.
    @discardableResult
    package func end() throws(PostgresError) -> Int {
        PostgresValue.append(Int16(-1), to: &bytes)
        try connection.putCopy(bytes)
        return try connection.endCopy(nil)
    }

    /// Has the server forget the rows; a transaction that it is part of is over.
    package func cancel() {
        // It fails with what it was called off for.
        _ = try? connection.endCopy("called off")
    }
}
