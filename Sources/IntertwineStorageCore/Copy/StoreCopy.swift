internal import IntertwineFeed

package struct StoreCopy {
    private static let batch = 2_000

    private let source: any CopySource
    private let destination: any CopyDestination

    package init(from source: any CopySource, to destination: any CopyDestination) {
        (self.source, self.destination) = (source, destination)
    }

    /// It must be called once.
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
