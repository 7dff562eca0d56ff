internal import IntertwineFeed

/// A copy of items and ledger from files to a PostgreSQL database, or back. Its calls block.
///
/// A copy excludes services from both sides while it runs. An interrupted copy leaves the destination empty.
package struct StoreCopy {
    private static let batch = 2_000

    private let source: any CopySource
    private let destination: any CopyDestination

    /// Creates a copy between two databases, which ``run(_:)`` closes.
    package init(from source: any CopySource, to destination: any CopyDestination) {
        (self.source, self.destination) = (source, destination)
    }

    /// Copies all tables. It must be called once.
    ///
    /// - Parameter onProgress: Called with a table and the number of copied rows, repeatedly.
    /// - Returns: The number of rows by table.
    /// - Throws: `StoreError.unusable` if the destination is not empty.
    package func run(_ onProgress: (_ table: String, _ rows: Int) -> Void = { _, _ in }) throws -> [(table: String, rows: Int)] {
        defer {
            source.close()
            destination.close()
        }
        try destination.begin()
        var counts: [(table: String, rows: Int)] = []
        for table in TableSchema.copied {
            var (count, last) = (0, [TableValue]?.none)
            while true {
                let rows = try source.rows(of: table, after: last, limit: Self.batch)
                guard let end = rows.last else { break }
                last = Array(end.prefix(table.keyLength))
                try destination.append(rows, to: table)
                count += rows.count
                onProgress(table.name, count)
            }
            counts.append((table.name, count))
        }
        try destination.finish(lastMarker: try source.lastMarker())
        return counts
    }
}
