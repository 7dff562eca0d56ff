import Foundation
import GRDB
import Glibc
import IntertwineFeed
import IntertwinePrimitives

extension StoreFiles {
    private static let pagesPerStep: CInt = 1_024

    package func copy(
        to copies: StoreFiles, includesKey: Bool, onProgress: @escaping (_ file: String, _ share: Double) throws -> Void
    ) throws {
        let sources = [ItemSchema.file(items), LedgerSchema.file(ledger)]
        for source in sources { try ServedFile.check(source.path) }
        let pairs = zip(sources, [copies.items, copies.ledger]).filter { FileManager.default.fileExists(atPath: $0.0.path) }
        let connections = try pairs.map { try Self.openForReading($0.0) }
        try pin(connections)
        for (connection, (source, copy)) in zip(connections, pairs) {
            let name = (copy as NSString).lastPathComponent
            try Self.copy(source, through: connection, to: copy) { try onProgress(name, $0) }
            try Self.complete(copy, includesKey: includesKey)
        }
    }

    /// Begins a read transaction on each file, so that all of them read the state at one point in time.
    private func pin(_ connections: [DatabaseQueue]) throws {
        guard let first = connections.first else { return }
        let observer = try Self.openForReading(ItemSchema.file(first.path))
        for _ in 0..<1_000 {
            let before = try Self.dataVersion(observer)
            for connection in connections { try connection.writeWithoutTransaction(Self.beginRead) }
            // Without a write of the items in between, their state is also their state when the last transaction began.
            if try Self.dataVersion(observer) == before { return }
            for connection in connections { try connection.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") } }
        }
        throw StoreError.unavailable("\(items): is written without a pause")
    }

    private static func beginRead(_ database: Database) throws {
        try database.execute(sql: "BEGIN")
        _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
    }

    private static func dataVersion(_ queue: DatabaseQueue) throws -> Int? {
        try queue.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA data_version") }
    }

    private static func openForReading(_ file: DatabaseFile) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        // The transaction spans several calls.
        configuration.allowsUnsafeTransactions = true
        do {
            return try DatabaseQueue(path: file.path, configuration: configuration)
        } catch {
            throw file.failure(error)
        }
    }

    private static func copy(
        _ source: DatabaseFile, through connection: DatabaseQueue, to path: String, onProgress: @escaping (Double) throws -> Void
    ) throws {
        let created = OwnedFile.open(path, O_RDWR | O_EXCL)
        guard created >= 0 else { throw StoreError.unusable("\(path): cannot be created: \(OwnedFile.reason(path))") }
        close(created)
        do {
            let destination = try DatabaseQueue(path: path)
            try destination.writeWithoutTransaction { copy in
                // An interrupted copy is removed, so it needs no journal.
                try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
                try connection.writeWithoutTransaction { original in
                    try original.backup(to: copy, pagesPerStep: pagesPerStep) { progress in
                        try onProgress(Double(progress.completedPageCount) / Double(max(1, progress.totalPageCount)))
                    }
                    try original.execute(sql: "ROLLBACK")
                }
            }
            try destination.close()
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            throw source.failure(error)
        } catch let error as DatabaseError {
            var file = source
            file.path = path
            throw file.failure(error)
        }
    }

    private static func complete(_ path: String, includesKey: Bool) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            // The copy has the log mode of its source. Without it, a read of the copy creates no files.
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            guard !includesKey, var identity = try StoreIdentity.read(database) else { return }
            identity.key = nil
            try identity.write(database)
        }
        try queue.close()
        guard DurableFolder.syncContent(of: path) else {
            throw StoreError.unusable("\(path): cannot be written: \(OwnedFile.reason(path))")
        }
    }

    package func replace(with others: StoreFiles, key: (from: String, to: String)?) throws {
        try checkUnused()
        guard FileManager.default.fileExists(atPath: others.items) else {
            throw StoreError.unusable("\(others.items): is missing; nothing was replaced")
        }
        // Without items, a served ledger is refused. The new items therefore come last, after everything that belongs to them.
        for path in [items, items + "-wal", items + "-shm", ledger + "-wal", ledger + "-shm"] { try Self.remove(path) }
        guard DurableFolder.sync(of: items) else { throw Self.failure(items) }
        if FileManager.default.fileExists(atPath: others.ledger) {
            try Self.move(others.ledger, to: ledger)
        } else {
            try Self.remove(ledger)
        }
        if let key { try Self.move(key.from, to: key.to) }
        guard DurableFolder.sync(of: items) else { throw Self.failure(items) }
        try Self.move(others.items, to: items)
        guard DurableFolder.sync(of: items) else { throw Self.failure(items) }
    }

    package func checkUnused() throws {
        for path in [items, ledger] where ServedFile.isOpenElsewhere(path) {
            throw StoreError.unusable("\(path): is in use by another process: stop the service first")
        }
    }

    private static func move(_ path: String, to destination: String) throws {
        guard rename(path, destination) == 0 else { throw failure(destination) }
    }

    private static func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(path) }
    }

    private static func failure(_ path: String) -> StoreError {
        .unusable("\(path): cannot be written: \(OwnedFile.reason(path))")
    }
}
