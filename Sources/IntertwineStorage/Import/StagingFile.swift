import GRDB
import Glibc
package import IntertwineFeed
internal import IntertwinePrimitives
package import IntertwineStorageCore

/// The items' file with a staging file beside it, which one process at a time uses.
/// Why: SQLite's own temporary files are in a folder that may be small, or in memory.
package final class StagingFile: StagingDatabase {
    private let path: String
    private let descriptor: Int32
    private let file: ServedFile
    private var pool: DatabasePool?

    init(beside items: String, for source: String? = nil, cache: Int) throws {
        path = source.map { "\(items).source-\($0)" } ?? "\(items).import-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        descriptor = try Self.lock(path, of: source)
        do {
            let pool = try ItemSchema.file(items).open(Self.configuration(cache))
            file = try ServedFile(items)
            try pool.syncCommits()
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "ATTACH DATABASE ? AS staging", arguments: [path])
                // The staging file has one user and is not recovered after a failure, so it needs neither a journal nor a sync.
                try database.execute(
                    sql: """
                        PRAGMA staging.journal_mode = OFF; PRAGMA staging.synchronous = OFF; PRAGMA staging.locking_mode = EXCLUSIVE;
                        PRAGMA staging.cache_size = -16384
                        """)
            }
            // SQLite has opened the file. The name of a source's file is its lock.
            if source == nil { unlink(path) }
            self.pool = pool
        } catch {
            unlink(path)
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit {
        close()
        Glibc.close(descriptor)
    }

    private static func configuration(_ cache: Int) -> Configuration {
        var configuration = Configuration()
        // The timeout is the longest wait for another import.
        configuration.busyMode = .timeout(60)
        configuration.maximumReaderCount = 1
        configuration.label = "intertwine.import"
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(
                sql: "PRAGMA page_size = \(ItemSchema.pageSize); PRAGMA cache_size = -\(cache); PRAGMA mmap_size = 0")
        }
        return configuration
    }

    private static func lock(_ path: String, of source: String?) throws -> Int32 {
        while true {
            let descriptor = OwnedFile.open(path, O_RDWR)
            guard descriptor >= 0 else { throw StoreError.unusable("\(path): cannot be written: \(OwnedFile.reason(path))") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                Glibc.close(descriptor)
                throw SnapshotRejection.busy(source ?? path)
            }
            var facts = stat()
            // The previous owner may have removed the file between the two calls.
            if fstat(descriptor, &facts) == 0, facts.st_nlink > 0, ftruncate(descriptor, 0) == 0 { return descriptor }
            Glibc.close(descriptor)
        }
    }

    package func stage<Value>(_ body: (SQLiteSession) throws -> Value) throws -> Value {
        try using { database in
            try file.check()
            // The transaction reads the items only if `body` does.
            try database.execute(sql: "BEGIN")
            return try ending(database) { (try body(database.session), true) }
        }
    }

    package func merge<Value>(_ count: Int64, _ body: (SQLiteSession) throws -> (Value, commits: Bool)) throws -> Value {
        try using { database in
            try file.writing {
                try database.execute(sql: "BEGIN IMMEDIATE")
                return try ending(database) { try body(database.session) }
            }
        }
    }

    private func ending<Value>(_ database: Database, _ body: () throws -> (Value, commits: Bool)) throws -> Value {
        do {
            let (value, commits) = try body()
            try database.execute(sql: commits ? "COMMIT" : "ROLLBACK")
            return value
        } catch {
            // If this fails, there is no transaction, or closing the connection ends it.
            try? database.execute(sql: "ROLLBACK")
            throw error
        }
    }

    private func using<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard let pool else { throw StoreError.unavailable("the import is over") }
        return try pool.writeWithoutTransaction(body)
    }

    package func close() {
        guard let pool else { return }
        self.pool = nil
        try? pool.close()
        unlink(path)
    }
}

package typealias SourceSnapshot = StagedSource<StagingFile>

extension StagedSource where Database == StagingFile {
    package convenience init(of source: String, kind: any ItemKind, into path: String) throws {
        let database = try StoreError.wrappingBlocking { try StagingFile(beside: path, for: source, cache: 32_768) }
        try self.init(database, of: source, kind: kind)
    }
}
