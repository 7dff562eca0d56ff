package import IntertwineStorageCore

/// A COPY of rows into a table. ``end()`` or ``cancel()`` must be called, also after an error, before the connection is used again.
package final class PostgresCopy {
    /// The number of bytes per message to the server.
    private static let pieceSize = 1 << 16

    private let connection: PostgresConnection
    /// The header of the binary format: signature, flags and an empty extension area.
    private var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// - Parameter values: The values in the order and with the types of the target columns.
    package func row(_ values: [SQLValue]) throws(PostgresError) {
        SQLValue.append(Int16(clamping: values.count), to: &bytes)
        for value in values { value.writeWithLength(to: &bytes) }
        guard bytes.count >= Self.pieceSize else { return }
        try connection.putCopy(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// - Returns: The number of rows that were stored.
    @discardableResult
    package func end() throws(PostgresError) -> Int {
        SQLValue.append(Int16(-1), to: &bytes)
        try connection.putCopy(bytes)
        return try connection.endCopy(nil)
    }

    /// Cancels the COPY; the server discards the rows. An enclosing transaction fails.
    package func cancel() {
        // The call fails with the given reason.
        _ = try? connection.endCopy("cancelled")
    }
}
