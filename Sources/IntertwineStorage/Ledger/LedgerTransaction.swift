import GRDB
import IntertwineFeed

/// One transaction of the ledger, from its begin to the disk having it.
final class LedgerTransaction {
    private let writer: LedgerWriter
    private let begin: SQLStatement
    private let commit: SQLStatement
    private let rollback: SQLStatement

    init(_ database: Database) throws {
        writer = try LedgerWriter(database)
        begin = try SQLStatement(database, "BEGIN IMMEDIATE")
        commit = try SQLStatement(database, "COMMIT")
        rollback = try SQLStatement(database, "ROLLBACK")
    }

    /// Whether counts wait to be written, and the longest window of the events so far.
    var hasWaitingCounts: Bool { writer.hasWaitingCounts }
    var longestWindow: Int64 { writer.longestWindow }

    /// All the units or, throwing, none.
    ///
    /// - Parameter flushes: whether counts that wait are to be written in any case.
    func commit(_ count: Int, now: Int64, flushes: Bool = true, entry: (Int) -> LedgerEntry) throws -> [LedgerReceipt] {
        // A rollback that failed when the disk did is made up for here.
        if writer.database.isInsideTransaction { try rollback.run() }
        try begin.run()
        let changes = writer.database.totalChangesCount
        do {
            let receipts = try (0..<count).map { try writer.write(entry($0), now: now) }
            if try writer.finishGroup(since: changes, flushes: flushes) {
                try commit.run()
                writer.groupHasCommitted()
            } else {
                try rollback.run()
                writer.postponeGroup()
            }
            return receipts
        } catch {
            writer.discardGroup()
            // SQLite has rolled back by itself after the graver errors.
            if writer.database.isInsideTransaction { try? rollback.run() }
            throw error
        }
    }
}
