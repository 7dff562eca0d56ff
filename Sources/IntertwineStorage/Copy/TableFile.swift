internal import GRDB
package import IntertwineItems
package import IntertwineStorageCore

/// An Intertwine database file with access to all rows, for copies between databases.
///
/// No other process can use the file at the same time. Its calls block.
package final class TableFile {
    private let queue: DatabaseQueue

    /// Opens the file, and creates it if it is missing.
    package init(_ path: String, _ content: TableSchema.File) throws(StoreError) {
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

    /// Runs `body` in a read transaction.
    package func read<Value>(_ body: (SQLiteSession) throws -> Value) throws -> Value {
        try StoreError.wrappingBlocking { try queue.read { try body($0.session) } }
    }

    /// Runs `body` in one transaction, whose changes are durable when the call returns. If `body` throws, nothing is written.
    package func write(_ body: (SQLiteSession) throws -> Void) throws {
        try StoreError.wrappingBlocking { try queue.write { try body($0.session) } }
    }

    /// Makes the ledger look up short rate counters in the tree, to which rows were written.
    func expectAllowances(_ session: SQLiteSession) throws { try session.write(RateCounterLog.expectation) }

    /// Copies the write-ahead log into the file, so that the file alone is complete.
    package func complete() throws {
        try StoreError.wrappingBlocking { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
    }

    /// Closes the file and releases its lock.
    package func close() { try? queue.close() }
}
