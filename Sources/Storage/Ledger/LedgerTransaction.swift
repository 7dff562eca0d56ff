import Feed
import GRDB

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

    /// All the units or, throwing, none.
    func commit(_ count: Int, now: Int64, entry: (Int) -> LedgerEntry) throws -> [LedgerReceipt] {
        // A rollback that failed when the disk did is made up for here.
        if writer.database.isInsideTransaction { try rollback.run() }
        try begin.run()
        do {
            let receipts = try (0..<count).map { try writer.write(entry($0), now: now) }
            try writer.finishGroup()
            try commit.run()
            return receipts
        } catch {
            writer.discardGroup()
            // SQLite has rolled back by itself after the graver errors.
            if writer.database.isInsideTransaction { try? rollback.run() }
            throw error
        }
    }
}
