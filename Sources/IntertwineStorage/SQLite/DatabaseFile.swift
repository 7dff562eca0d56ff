import Foundation
import GRDB
import Glibc
import IntertwineFeed

/// A database file of ours: how to tell it from any other file, and how to bring it up to date.
struct DatabaseFile {
    var path: String
    /// What the file holds, for messages: "the items", "the ledger".
    var content: String
    /// SQLite's `application_id`, which `file` and others show too.
    var applicationID: Int32
    /// SQLite's `user_version`: the number of the last migration.
    var version: Int32
    var migrator: DatabaseMigrator
    /// Whether a copy that was cut short is there to be finished; nobody else may use what it has left.
    var isCopying = false

    /// Opens the file, makes it where there is none, and migrates it. What is not ours is never written to.
    ///
    /// - Throws: ``StoreError/unusable(_:)`` with one line, or ``StoreError/unavailable(_:)`` while another process keeps it locked.
    func open(_ configuration: Configuration) throws(StoreError) -> DatabasePool {
        try checkPermissions()
        try FileIntegrity.check(path)
        do {
            // A database that is up to date is not written to: a service can start while an import holds the write lock.
            if let found = try? foundVersion(), found == version {
                restrict()
                return try DatabasePool(path: path, configuration: configuration)
            }
            return try alone {
                let found = try foundVersion()
                restrict()
                let pool = try DatabasePool(path: path, configuration: configuration)
                if found != version { try migrate(pool) }
                return pool
            }
        } catch {
            throw failure(error)
        }
    }

    /// Of the file and of those that SQLite makes beside it, which take it over: what people did is nobody's business but the owner's.
    static let mode: mode_t = 0o600

    /// Makes the file if there is none, and has its owner alone read and write it, whatever the umask, and whatever a version before made.
    /// A file of another user is left as it is.
    private func restrict() {
        let made = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, Self.mode)
        guard made < 0 else {
            close(made)
            return
        }
        // By its name: closing a descriptor of the file would drop the locks that SQLite holds on it for the process.
        for name in [path, path + "-wal", path + "-shm"] {
            var facts = stat()
            guard stat(name, &facts) == 0, facts.st_mode & 0o777 != Self.mode else { continue }
            chmod(name, Self.mode)
        }
    }

    /// Opens the file for one connection, which no other process shares it with until it is closed.
    ///
    /// - Throws: as ``open(_:)``, and ``StoreError/unusable(_:)`` while another process has it open.
    func openAlone() throws(StoreError) -> DatabaseQueue {
        let pool = try open(Configuration())
        do {
            try pool.close()
            var configuration = Configuration()
            configuration.busyMode = .timeout(2)
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE; COMMIT") }
            return queue
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            throw .unusable("\(path): is in use by another process: stop the service, and copy then")
        } catch {
            throw failure(error)
        }
    }

    /// One process after the other: each step of a migration is a transaction, but which steps are left is found out before. Nobody waits
    /// longer than half a minute: then SQLite says who has the file locked.
    func alone<Value>(_ body: () throws -> Value) throws -> Value {
        let folder = Glibc.open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // Where there is no lock to be had, as on some network file systems, one process alone is started at a time.
        defer { if folder >= 0 { close(folder) } }
        var attempts = 600
        while folder >= 0, attempts > 0, flock(folder, LOCK_EX | LOCK_NB) != 0 {
            usleep(50_000)
            attempts -= 1
        }
        return try body()
    }

    private var folderPath: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// Makes or migrates the tables, and says in the file what it is.
    func migrate(_ writer: some DatabaseWriter) throws {
        try migrator.migrate(writer)
        try writer.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        }
    }

    /// - Throws: ``StoreError/unusable(_:)`` where the file or its folder cannot be written.
    func checkPermissions() throws(StoreError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folderPath, isDirectory: &isFolder), isFolder.boolValue else {
            throw .unusable("\(path): the folder \(folderPath) does not exist")
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else { throw .unusable("\(path): is a folder, not a database") }
            try checkSize()
            guard access(path, R_OK | W_OK) == 0 else { throw .unusable("\(path): cannot be written: \(String(cString: strerror(errno)))") }
        }
        guard access(folderPath, W_OK) == 0 else {
            throw .unusable("\(path): the folder \(folderPath) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// SQLite takes a file that is shorter than its smallest page for a new database, and writes over it.
    private func checkSize() throws(StoreError) {
        let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
        guard size == 0 || size >= 512 else { throw .unusable("\(path): is no database") }
    }

    /// Reads from an existing file through a connection that cannot write.
    func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: path, configuration: configuration).read(body)
    }

    /// Whether the file is there as this version keeps it: opening it writes nothing.
    ///
    /// - Throws: as ``open(_:)`` does.
    func isUpToDate() throws(StoreError) -> Bool {
        do { return try foundVersion() == version } catch { throw failure(error) }
    }

    /// The version of an existing file, 0 for a new one; looks at it through a connection that cannot write.
    private func foundVersion() throws -> Int32 {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        try checkSize()
        return try reading { database in
            let applicationID = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
            if applicationID == 0, version == 0, tables == 0 { return 0 }
            // A first migration that was cut short has tables and no id yet: its bookkeeping tells.
            let isUnfinished = try applicationID == 0 && version == 0 && database.tableExists("grdb_migrations")
            guard applicationID == self.applicationID || isUnfinished else {
                throw StoreError.unusable("\(path): is a database of another program, not \(content)")
            }
            guard try isCopying || !database.tableExists("intertwine_copy") else {
                throw StoreError.unusable("\(path): a copy into it is not finished: run intertwine copy again, or remove the file")
            }
            guard version <= self.version else {
                throw StoreError.unusable(
                    "\(path): was written by a newer version of this program (\(version), this one knows \(self.version))")
            }
            guard try !migrator.hasBeenSuperseded(database) else {
                throw StoreError.unusable("\(path): was written by a newer version of this program, with migrations unknown to this one")
            }
            return version
        }
    }

    /// One line about what keeps the file from being opened.
    func failure(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        guard let error = error as? DatabaseError else { return .unusable("\(path): \(error)") }
        return switch error.resultCode {
        case .SQLITE_NOTADB: .unusable("\(path): is no database")
        case .SQLITE_CORRUPT: .unusable("\(path): is damaged; restore it from a backup")
        case .SQLITE_BUSY, .SQLITE_LOCKED: .unavailable("\(path): is locked by another process")
        case .SQLITE_CANTOPEN: .unusable("\(path): cannot be opened")
        case .SQLITE_READONLY: .unusable("\(path): cannot be written")
        case .SQLITE_FULL: .unusable("\(path): the disk is full")
        // What SQLite cannot make beside the file it tells as a fault of the disk.
        case .SQLITE_IOERR where DiskRoom.isFull(folderPath): .unusable("\(path): the disk is full")
        default: .unusable("\(path): \(error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")")
        }
    }
}

extension DatabasePool {
    /// Has every commit of the writing connection be on disk before it returns. GRDB sets NORMAL with WAL, with which the last commits go
    /// with the power. The write-ahead log of a large transaction is cut back once it has been copied, to 64 MiB.
    func syncCommits() throws {
        try writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864") }
    }

    /// Copies the write-ahead log into the database file and empties it, so that the file alone is complete.
    ///
    /// - Throws: `SQLITE_BUSY` where another process uses the database and does not pause within a second; what could be copied is.
    func completeFile() throws {
        try writeWithoutTransaction { database in
            let timeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = 1000")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
            try StoreIdentity.expectNoLog(database)
            _ = try database.checkpoint(.truncate)
        }
    }
}

/// The folder that a file stands in. A file is there after a power cut where its folder was synced after it was made, linked or renamed; its
/// own sync promises its content alone.
package enum DurableFolder {
    /// Has the names in the folder of a file be on disk.
    ///
    /// - Returns: false where the disk does not take it, and `errno` tells why.
    package static func sync(of file: String) -> Bool {
        let end = file.lastIndex(of: "/")
        let folder = end.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        return syncContent(of: folder)
    }

    /// Has the content of a file, or the names in a folder, be on disk.
    static func syncContent(of path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}

extension StoreError {
    /// What a failure of SQLite means to a request that is under way.
    init(_ error: DatabaseError) {
        self = .unavailable(error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")
    }

    /// Runs `body`, turning SQLite's failures into ``unavailable(_:)`` and leaving all others as they are.
    static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}
