import GRDB
import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// A complete list of a source's items, which is collected in a separate file and then applied to the store in one transaction.
///
/// Memory is bounded by SQLite's caches, for lists of any length. Readers of the store see no change before ``apply(removing:step:)``
/// returns, and all changes after it. Not `Sendable`: one caller at a time, and its calls block.
final class SourceSnapshot {
    private let source: String
    private let kind: any ItemKind
    private let file: StagingFile
    private var pool: DatabasePool?
    private var served: ServedFile?
    /// The number of collected items.
    private(set) var count = 0

    /// Opens the store and creates the staging file.
    ///
    /// - Parameters:
    ///   - source: the source's name, which is part of the name of the staging file.
    ///   - kind: the kind of all items.
    ///   - path: the store, which is created if it is missing.
    /// - Throws: ``SnapshotRejection/busy(_:)`` while the source is being synchronized elsewhere, in any process; `StoreError`.
    init(of source: String, kind: any ItemKind, into path: String) throws {
        self.source = source
        self.kind = kind
        let file = try StagingFile(of: source, nextTo: path)
        self.file = file
        do {
            let pool = try ItemSchema.file(path).open(Self.configuration)
            self.pool = pool
            served = try ServedFile(path)
            try pool.syncCommits()
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "ATTACH DATABASE ? AS staging", arguments: [file.path])
                // The staging file has one user and is not recovered after a failure, so it needs neither a journal nor a sync.
                try database.execute(
                    sql: """
                        PRAGMA staging.journal_mode = OFF; PRAGMA staging.synchronous = OFF; PRAGMA staging.locking_mode = EXCLUSIVE;
                        PRAGMA staging.cache_size = -16384;
                        CREATE TABLE staging.staged (
                            place INTEGER PRIMARY KEY, id TEXT NOT NULL, variant TEXT NOT NULL,
                            body TEXT NOT NULL, digest INTEGER NOT NULL, UNIQUE (id)
                        );
                        CREATE TABLE staging.gone (
                            kind TEXT NOT NULL, id TEXT NOT NULL, adopted INTEGER NOT NULL, leaves INTEGER NOT NULL
                        );
                        BEGIN
                        """)
            }
        } catch let error as StoreError {
            close()
            throw error
        } catch {
            close()
            throw (error as? DatabaseError).map(StoreError.init) ?? .unavailable("\(error)")
        }
    }

    deinit {
        close()
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.maximumReaderCount = 1
        configuration.label = "intertwine.source"
        // A transaction spans many calls.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -32768; PRAGMA mmap_size = 0")
        }
        return configuration
    }

    /// Collects items in the source's order.
    ///
    /// - Returns: the indices of items whose id was collected before; they are skipped.
    func add(_ items: [ValidatedItem]) throws -> [Int] {
        try writing { database in
            let insert = try SQLStatement(
                database,
                "INSERT INTO staging.staged (id, variant, body, digest) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
            var repeated: [Int] = []
            for (index, item) in items.enumerated() {
                try insert.bind(1, item.id)
                try insert.bind(2, item.variant)
                try insert.bind(3, text: item.body)
                try insert.bind(4, ItemDigest(variant: item.variant, body: item.body).stored)
                try insert.run()
                if database.changesCount == 0 { repeated.append(index) }
            }
            count += items.count - repeated.count
            return repeated
        }
    }

    /// Updates the store to the content of the snapshot.
    ///
    /// New items are appended in the source's order, and known ones are replaced in place. An item is removed if the snapshot does not list it
    /// and only this source has stored it. Nothing is written if nothing has changed.
    ///
    /// - Parameters:
    ///   - share: the limit of the share of the source's items that may be removed at once; 1 allows an empty list to remove all.
    ///   - step: called periodically with the number of processed items; if it throws, all changes are reverted.
    /// - Throws: ``SnapshotRejection``, `StoreError`; the store is then unchanged. The snapshot cannot be used again in any case.
    func apply(removing share: Double, step: (Int) throws -> Void = { _ in }) throws -> SourceChanges {
        defer { close() }
        guard count > 0 || share >= 1 else { throw SnapshotRejection.empty }
        return try writing { database in
            try database.execute(sql: "COMMIT; BEGIN IMMEDIATE")
            do {
                var merge = try SourceMerge(database.session, source: source, kind: kind)
                let changes = try merge.run(removing: share, step: step)
                // A commit without changes would make cached pages stale.
                try database.execute(sql: merge.hasWritten ? "COMMIT" : "ROLLBACK")
                return changes
            } catch {
                // If this fails, there is no transaction, or closing the connection ends it.
                try? database.execute(sql: "ROLLBACK")
                throw error
            }
        }
    }

    /// Discards all collected items.
    func discard() {
        close()
    }

    /// Reads committed data on a separate connection: the transaction of the snapshot may have begun long ago.
    private func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard let pool else { throw StoreError.unavailable("the snapshot is over") }
        do {
            try served?.check()
            return try pool.read(body)
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    private func writing<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard let pool else { throw StoreError.unavailable("the snapshot is over") }
        do {
            guard let served else { return try pool.writeWithoutTransaction(body) }
            return try served.writing { try pool.writeWithoutTransaction(body) }
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        if let pool {
            try? pool.writeWithoutTransaction { database in
                if database.isInsideTransaction { try database.execute(sql: "ROLLBACK") }
            }
            try? pool.close()
        }
        pool = nil
        file.remove()
    }

    private var isClosed = false
}

extension SourceSnapshot {
    /// Returns true if all items of the source's last list are unchanged in the store.
    ///
    /// An item counts as unchanged if its content is from this source or another one. Items that are taken down are skipped.
    /// Committed data is read, up to the first changed item.
    ///
    /// - Throws: `StoreError`
    func isInStep() throws -> Bool {
        try reading { try SourceMerge.isInStep(source, $0.session) }
    }
}

/// A staging file beside the items' file, in which one process at a time collects one snapshot.
///
/// Its owner removes the file. A file that remains after a crash is emptied by the next owner.
private struct StagingFile {
    let path: String
    private let descriptor: Int32

    /// Creates and locks the file.
    ///
    /// - Throws: ``SnapshotRejection/busy(_:)`` while the source is being synchronized elsewhere; `StoreError.unusable`.
    init(of source: String, nextTo database: String) throws {
        let path = "\(database).source-\(source)"
        self.path = path
        while true {
            let descriptor = OwnedFile.open(path, O_RDWR)
            guard descriptor >= 0 else { throw StoreError.unusable("\(path): cannot be written: \(OwnedFile.reason(path))") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw SnapshotRejection.busy(source)
            }
            var facts = stat()
            // The previous owner may have removed the file between the two calls.
            if fstat(descriptor, &facts) == 0, facts.st_nlink > 0, ftruncate(descriptor, 0) == 0 {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    /// Removes the file. Call it once, after SQLite has closed the file: closing it here first would drop SQLite's locks.
    func remove() {
        unlink(path)
        close(descriptor)
    }
}
