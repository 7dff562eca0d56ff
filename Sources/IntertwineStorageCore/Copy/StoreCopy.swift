internal import IntertwineCrypto
internal import IntertwineItems

/// A copy of items and ledger from files to a PostgreSQL database, or back. An interrupted copy resumes. Its calls block.
///
/// A copy excludes services from both sides while it runs. An interrupted copy may have been written to before it resumes. At the end
/// the rows of both sides are counted and compared by digests, and tables that differ are copied again.
package struct StoreCopy {
    private static let batch = 2_000

    private let source: any CopyEndpoint
    private let destination: any CopyEndpoint

    /// Creates a copy between two databases, which ``run(_:)`` closes.
    package init(from source: any CopyEndpoint, to destination: any CopyEndpoint) {
        (self.source, self.destination) = (source, destination)
    }

    /// Copies all tables and compares them. It must be called once.
    ///
    /// - Parameter onProgress: Called with a table and the number of copied rows, repeatedly and after the comparison.
    /// - Returns: The number of rows by table.
    /// - Throws: `StoreError.unusable` if the destination is not empty, or differs from the source.
    package func run(_ onProgress: (_ table: String, _ rows: Int) -> Void = { _, _ in }) throws -> [(table: String, rows: Int)] {
        defer {
            source.close()
            destination.close()
        }
        var (progress, isResumed) = try begin()
        try copy(&progress, onProgress)
        var comparison = try compare()
        if isResumed, !comparison.different.isEmpty {
            let names = Set(comparison.different.flatMap { [$0.name] + $0.dependents })
            for name in names { progress.last[name] = nil }
            try destination.clear(TableSchema.copied.filter { names.contains($0.name) }, progress)
            try copy(&progress, onProgress)
            comparison = try compare()
        }
        if let fault = comparison.fault { throw StoreError.unusable(fault) }
        try destination.finish(lastMarker: try source.lastMarker())
        return comparison.counts
    }

    private func copy(_ progress: inout CopyProgress, _ onProgress: (_ table: String, _ rows: Int) -> Void) throws {
        for table in TableSchema.copied {
            var count = 0
            while true {
                let rows = try source.rows(of: table, after: progress.last[table.name], limit: Self.batch)
                guard let last = rows.last else { break }
                progress.last[table.name] = Array(last.prefix(table.keyLength))
                try destination.append(rows, to: table, progress)
                count += rows.count
                onProgress(table.name, count)
            }
        }
    }

    /// - Returns: The progress of the copy, and whether it resumes.
    private func begin() throws -> (CopyProgress, isResumed: Bool) {
        if let progress = try destination.progress() {
            guard [source.identity, source.shown].contains(progress.source) else {
                throw StoreError.unusable("\(destination.shown): has an incomplete copy of \(progress.source); empty it first")
            }
            try destination.begin(progress)
            return (progress, true)
        }
        guard try destination.isEmpty() else {
            throw StoreError.unusable("\(destination.shown): is not empty; the destination of a copy must be empty")
        }
        let progress = CopyProgress(source: source.identity)
        try destination.begin(progress)
        return (progress, false)
    }

    // MARK: Comparing

    private struct Comparison {
        var counts: [(table: String, rows: Int)] = []
        var different: [TableSchema] = []
        /// The first difference.
        var fault: String?
    }

    private func compare() throws -> Comparison {
        var comparison = Comparison()
        for table in TableSchema.copied {
            let (one, other) = (try sum(of: table, in: source), try sum(of: table, in: destination))
            comparison.counts.append((table.name, one.count))
            guard one != other else { continue }
            comparison.different.append(table)
            let fault =
                "\(table.name): \(source.shown) has \(one.count) rows and \(destination.shown) \(other.count), "
                + "\(one.count == other.count ? "which differ" : "not the same"): was either of them written to? "
                + "Run the copy again: it copies tables that differ"
            comparison.fault = comparison.fault ?? fault
        }
        return comparison
    }

    /// The number of rows, and a digest that is independent of their order.
    private struct Sum: Equatable {
        var count = 0
        var digest: UInt64 = 0

        private static func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

        mutating func add(_ row: [TableValue]) {
            var hash = SHA256()
            for value in row {
                switch value {
                case .null: hash.update(data: [UInt8(0)])
                case .integer(let number): hash.update(data: [UInt8(1)] + Self.bytes(number))
                case .text(let text): hash.update(data: [UInt8(2)] + Self.bytes(Int64(text.utf8.count)) + Array(text.utf8))
                case .bytes(let bytes): hash.update(data: [UInt8(3)] + Self.bytes(Int64(bytes.count)) + bytes)
                }
            }
            count += 1
            digest &+= hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        }
    }

    private func sum(of table: TableSchema, in side: any CopyEndpoint) throws -> Sum {
        var sum = Sum()
        var last: [TableValue]?
        while true {
            let rows = try side.rows(of: table, after: last, limit: Self.batch)
            guard let end = rows.last else { return sum }
            for row in rows { sum.add(row) }
            last = Array(end.prefix(table.keyLength))
        }
    }
}
