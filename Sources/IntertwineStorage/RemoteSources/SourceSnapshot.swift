import GRDB
import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// A complete list of a source's items, which is collected in a separate file and then applied to the store in one transaction.
/// Memory is bounded by SQLite's caches, for lists of any length. Not `Sendable`: one caller at a time, and its calls block.
final class SourceSnapshot {
    private let source: String
    private let kind: any ItemKind
    private let file: StagingFile
    private var pool: DatabasePool?
    private var served: ServedFile?
    private(set) var count = 0

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

    func discard() {
        close()
    }

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
    func isInStep() throws -> Bool {
        try reading { try SourceMerge.isInStep(source, $0.session) }
    }
}

/// A staging file beside the items' file, in which one process at a time collects one snapshot.
private struct StagingFile {
    let path: String
    private let descriptor: Int32

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

    /// Call it once, after SQLite has closed the file: closing it here first would drop SQLite's locks.
    func remove() {
        unlink(path)
        close(descriptor)
    }
}
