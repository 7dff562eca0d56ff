internal import GRDB
package import IntertwineFeed
package import IntertwineStorageCore

/// An Intertwine database file with access to all rows, for copies between databases.
///
/// No other process can use the file at the same time. Its calls block.
package final class TableFile {
    /// A writer within a transaction.
    package struct Writer {
        fileprivate let database: Database

        package func run(_ sql: String, _ values: [TableValue] = []) throws {
            let statement = try SQLStatement(database, sql)
            try statement.bind(all: values)
            try statement.run()
        }

        /// Makes the ledger look up short rate counters in the tree, to which rows were written.
        package func expectAllowances() throws {
            try SQLStatement.run(database, RateCounterLog.expectation)
        }
    }

    private let queue: DatabaseQueue

    /// Opens the file, and creates it if it is missing.
    package init(_ path: String, _ content: CopiedTable.File) throws(StoreError) {
        var file =
            switch content {
            case .items: ItemSchema.file(path)
            case .ledger: LedgerSchema.file(path)
            }
        file.isCopying = true
        queue = try file.openAlone()
        // The log of recent rate counters is moved to the tree, where each counter is a row.
        guard content == .ledger else { return }
        do {
            try queue.write { try RateCounterLog.load($0) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch {
            throw .unusable("\(path): \(error)")
        }
    }

    /// Returns the rows of a query.
    ///
    /// - Parameter kinds: the types of the columns.
    package func rows(_ sql: String, _ values: [TableValue] = [], _ kinds: [TableValue.Kind]) throws -> [[TableValue]] {
        try wrapping {
            try queue.read { database in
                let statement = try SQLStatement(database, sql)
                try statement.bind(all: values)
                defer { statement.reset() }
                var rows: [[TableValue]] = []
                while try statement.step() {
                    rows.append(zip(0..., kinds).map { statement.value($0, $1) })
                }
                return rows
            }
        }
    }

    /// Runs `body` in one transaction, whose changes are durable when the call returns. If `body` throws, nothing is written.
    package func write(_ body: (Writer) throws -> Void) throws {
        try wrapping { try queue.write { try body(Writer(database: $0)) } }
    }

    /// Copies the write-ahead log into the file, so that the file alone is complete.
    package func complete() throws {
        try wrapping { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    }

    /// Closes the file and releases its lock.
    package func close() { try? queue.close() }

    private func wrapping<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}

extension SQLStatement {
    fileprivate func bind(all values: [TableValue]) throws {
        for (index, value) in zip(Int32(1)..., values) {
            switch value {
            case .null: try bind(index, Int64?.none)
            case .integer(let number): try bind(index, number)
            case .text(let text): try bind(index, text)
            case .bytes(let bytes): try bind(index, blob: bytes)
            }
        }
    }

    fileprivate func value(_ column: Int, _ kind: TableValue.Kind) -> TableValue {
        guard !isNull(column) else { return .null }
        return switch kind {
        case .integer: .integer(integer(column))
        case .text: .text(text(column))
        case .bytes: .bytes(bytes(column))
        }
    }
}
