internal import Foundation
internal import GRDB
package import IntertwineFeed
package import IntertwineStorageCore

package final class CopiedFiles: CopySource {
    private let items: DatabaseQueue
    private let ledger: DatabaseQueue

    package init(items path: String, ledger: String) throws(StoreError) {
        items = try ItemSchema.file(path).openAlone()
        self.ledger = try LedgerSchema.file(ledger).openAlone()
        // The log of recent rate counters is moved to the tree, where each counter is a row.
        do {
            try self.ledger.write { _ = try RateCounters.load($0.session) }
        } catch {
            throw (error as? DatabaseError).map(StoreError.init) ?? .unusable("\(ledger): \(error)")
        }
    }

    private func queue(of table: TableSchema) -> DatabaseQueue { table.file == .items ? items : ledger }

    package func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]] {
        try StoreError.wrappingBlocking { try queue(of: table).read { try table.rows(after: key, limit: limit, $0.session) } }
    }

    package func lastMarker() throws -> Int64 {
        try StoreError.wrappingBlocking {
            try ledger.read { try $0.session.integer("SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0 }
        }
    }

    package func close() {
        for queue in [items, ledger] { try? queue.close() }
    }
}

package final class NewFiles: CopyDestination {
    private struct Draft {
        let file: DraftFile
        let queue: DatabaseQueue

        init(_ description: DatabaseFile, pageSize: Int) throws {
            try description.checkPermissions()
            file = try DraftFile(for: description.path)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            // Only the complete draft must be durable, so it is synced once at the end.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = \(pageSize); PRAGMA synchronous = OFF") }
            do {
                queue = try DatabaseQueue(path: file.path, configuration: configuration)
                try description.create(queue)
                try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN") }
            } catch {
                throw description.failure(error)
            }
        }

        func write(_ body: (SQLiteSession) throws -> Void) throws {
            try StoreError.wrappingBlocking { try queue.writeWithoutTransaction { try body($0.session) } }
        }

        func moveIntoPlace(_ path: String) throws {
            try StoreError.wrappingBlocking {
                try queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT; PRAGMA journal_mode = WAL") }
                try queue.close()
            }
            guard try file.moveIntoPlace() else { throw StoreError.unusable("\(path): exists") }
        }
    }

    private let files: (items: String, ledger: String)
    private var drafts: (items: Draft, ledger: Draft)?

    package init(items path: String, ledger: String) {
        files = (path, ledger)
    }

    package func begin() throws {
        for path in [files.items, files.ledger] where FileManager.default.fileExists(atPath: path) {
            throw StoreError.unusable("\(path): exists; the destination of a copy must be empty")
        }
        drafts = (
            items: try Draft(ItemSchema.file(files.items), pageSize: ItemSchema.pageSize),
            ledger: try Draft(LedgerSchema.file(files.ledger), pageSize: 4_096)
        )
    }

    private func opened() throws(StoreError) -> (items: Draft, ledger: Draft) {
        guard let drafts else { throw .unavailable("the copy is over") }
        return drafts
    }

    package func append(_ rows: [[TableValue]], to table: TableSchema) throws {
        let drafts = try opened()
        try (table.file == .items ? drafts.items : drafts.ledger).write { session in
            try session.run([table.insertion(of: rows, .sqlite)]) { _, _ in }
        }
    }

    package func finish(lastMarker: Int64) throws {
        let drafts = try opened()
        let identity = try drafts.items.queue.writeWithoutTransaction(StoreIdentity.read)
        try drafts.ledger.write { session in
            try session.write("DELETE FROM sqlite_sequence WHERE name = 'event'")
            try session.write("INSERT INTO sqlite_sequence (name, seq) VALUES ('event', ?1)", .integer(lastMarker))
            // Readers look up short counters in the table, if it has rows, for the duration of a short window.
            try session.write(
                """
                INSERT INTO recent_allowance (until, spilled, entries)
                SELECT 1000 * CAST(strftime('%s', 'now') AS INTEGER) + ?1, 1, x'' WHERE EXISTS (SELECT 1 FROM allowance)
                """, .integer(RecentRateCounters.longestWindow))
        }
        // A start between the two moves is refused, because the ledger names the items.
        if var identity {
            identity.isServed = true
            try drafts.ledger.queue.writeWithoutTransaction { try identity.write($0) }
        }
        try drafts.ledger.moveIntoPlace(files.ledger)
        try drafts.items.moveIntoPlace(files.items)
    }

    package func close() {
        // Drafts that were not moved are removed.
        for draft in [drafts?.items, drafts?.ledger] { try? draft?.queue.close() }
        drafts = nil
    }
}
