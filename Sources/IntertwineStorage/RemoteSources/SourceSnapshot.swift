import GRDB
import Glibc
package import IntertwineFeed

/// One complete list of a source's items: collected in a file of its own, then applied to the store in one transaction.
///
/// Memory stays bounded by SQLite's caches, however long the list. Whoever reads the store sees nothing of it before ``apply(removing:step:)``
/// returns, and all of it from then on. Not `Sendable`: one caller at a time, and its calls block.
package final class SourceSnapshot {
    private let source: String
    private let kind: any ItemKind
    private let file: StagingFile
    private var pool: DatabasePool?
    /// Items collected.
    package private(set) var count = 0

    /// - Parameters:
    ///   - source: the source's name, which is part of a file's name.
    ///   - kind: of all its items.
    ///   - path: the store, made where there is none.
    /// - Throws: ``SnapshotRejection/busy(_:)`` while the same source is being synchronised elsewhere, in whichever process; `StoreError`.
    package init(of source: String, kind: any ItemKind, into path: String) throws {
        self.source = source
        self.kind = kind
        let file = try StagingFile(of: source, beside: path)
        self.file = file
        do {
            let pool = try ItemSchema.file(path).open(Self.configuration)
            self.pool = pool
            try pool.syncCommits()
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "ATTACH DATABASE ? AS staging", arguments: [file.path])
                // Nobody else reads the file and nothing brings it back: it needs neither journal nor sync.
                try database.execute(
                    sql: """
                        PRAGMA staging.journal_mode = OFF; PRAGMA staging.synchronous = OFF; PRAGMA staging.locking_mode = EXCLUSIVE;
                        PRAGMA staging.cache_size = -16384;
                        CREATE TABLE staging.staged (
                            place INTEGER PRIMARY KEY, id TEXT NOT NULL, variant TEXT NOT NULL,
                            body TEXT NOT NULL, digest INTEGER NOT NULL, UNIQUE (id)
                        );
                        CREATE TABLE staging.gone (
                            place INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, digest INTEGER NOT NULL,
                            adopted INTEGER NOT NULL
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

    /// Collects items, in the source's order.
    ///
    /// - Returns: the indices of those whose id the snapshot holds already; they are left out.
    package func add(_ items: [ValidatedItem]) throws -> [Int] {
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

    /// Makes the store hold what the snapshot holds: new items at the end in the source's order, known ones replaced in their places, and
    /// those removed that this source alone brought and does not list any more. Where all is the same, nothing is written.
    ///
    /// - Parameters:
    ///   - share: how many of the source's items may go at once; 1 lets an empty list remove all.
    ///   - step: called now and then with the number of items that are done; what it throws takes everything back.
    /// - Throws: ``SnapshotRejection``, `StoreError`; the store is then as it was. The snapshot is over in any case.
    package func apply(removing share: Double, step: (Int) throws -> Void = { _ in }) throws -> SourceChanges {
        defer { close() }
        guard count > 0 || share >= 1 else { throw SnapshotRejection.empty }
        return try writing { database in
            try database.execute(sql: "COMMIT; BEGIN IMMEDIATE")
            do {
                var merge = try SnapshotMerge(database, source: source, kind: kind)
                let changes = try merge.run(removing: share, step: step)
                // What changes nothing must not look like a change to whoever keeps pages.
                try database.execute(sql: merge.hasWritten ? "COMMIT" : "ROLLBACK")
                return changes
            } catch {
                // If this fails there is no transaction any more, or closing the connection ends it.
                try? database.execute(sql: "ROLLBACK")
                throw error
            }
        }
    }

    /// Lets everything go that was collected.
    package func discard() {
        close()
    }

    /// In a connection that sees what is committed: the snapshot's own transaction may have begun long ago.
    private func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard let pool else { throw StoreError.unavailable("the snapshot is over") }
        do {
            return try pool.read(body)
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }

    private func writing<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard let pool else { throw StoreError.unavailable("the snapshot is over") }
        do {
            return try pool.writeWithoutTransaction(body)
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
    /// Whether the items that a source brought last are all in the store as it, or another source, brought them, but
    /// for those that were taken down. Reads what is
    /// committed, up to the first item that is not.
    ///
    /// - Throws: `StoreError`
    package func isInStep() throws -> Bool {
        try reading { database in
            let number = try SQLStatement.integer(database, "SELECT number FROM source WHERE name = ?", .text(source))
            // Nothing has ever been applied, or nothing but empty lists.
            guard let number else { return true }
            let rows = try SQLStatement(
                database,
                """
                SELECT s.digest, s.kind, s.id, i.variant, i.body
                FROM source_item AS s LEFT JOIN item AS i ON i.kind = s.kind AND i.id = s.id WHERE s.source = ?
                AND NOT EXISTS (SELECT 1 FROM takedown AS t WHERE t.kind = s.kind AND t.id = s.id)
                """)
            let origins = try ItemOwnership(database, besides: number)
            defer { rows.reset() }
            try rows.bind(1, number)
            while try rows.step() {
                guard !rows.isNull(3) else { return false }
                let digest = ItemDigest(variant: rows.text(3), body: rows.bytes(4)).stored
                guard try digest == rows.integer(0) || origins.hasBrought(kind: rows.text(1), id: rows.text(2), digest: digest) else {
                    return false
                }
            }
            return true
        }
    }
}

/// Why a complete snapshot is not applied.
public enum SnapshotRejection: Error, Sendable, Hashable, CustomStringConvertible {
    /// It holds no item at all.
    case empty
    /// It lacks more of the items that the source brought before than may go at once.
    case tooManyGone(Int, of: Int, share: Double)

    /// There would be more campaigns in the store than it may have.
    case tooManyCampaigns(Int, limit: Int)
    /// The source of that name is being synchronised elsewhere.
    case busy(String)

    public var description: String {
        switch self {
        case .empty: "the list is empty, and nothing of the source would be left; `removable: 1` in its declaration allows that"
        case .tooManyCampaigns(let count, let limit): "there would be \(count) campaigns, and no more than \(limit) are taken"
        case .busy(let source): "the source \(source) is being synchronised already, by the service or by another `intertwine sync`"
        case .tooManyGone(let gone, let all, let share):
            "\(gone) of \(all) items would be removed, more than the share of \(share) that may go at once; a greater `removable` in its declaration allows more"
        }
    }
}

/// An empty file beside the items' in which one snapshot is collected, by one process at a time. It is gone with its owner, or emptied by
/// the next one.
private struct StagingFile {
    let path: String
    private let descriptor: Int32

    /// - Throws: ``SnapshotRejection/busy(_:)`` while the same source is being synchronised elsewhere; `StoreError.unusable`.
    init(of source: String, beside database: String) throws {
        let path = "\(database).source-\(source)"
        self.path = path
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw StoreError.unusable("\(path): cannot be written: \(String(cString: strerror(errno)))") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw SnapshotRejection.busy(source)
            }
            var facts = stat()
            // The one before may have removed the file between the two calls.
            if fstat(descriptor, &facts) == 0, facts.st_nlink > 0, ftruncate(descriptor, 0) == 0 {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    /// To be called once, and after SQLite has closed the file: closing it here first would drop SQLite's locks.
    func remove() {
        unlink(path)
        close(descriptor)
    }
}
