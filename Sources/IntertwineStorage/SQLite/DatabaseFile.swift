import Foundation
package import GRDB
import Glibc
package import IntertwineFeed
internal import IntertwinePrimitives

/// A description of an Intertwine database file, with functions that recognize, open and create it.
struct DatabaseFile {
    var path: String
    var content: String
    /// SQLite's `application_id`, which tools such as `file` show.
    var applicationID: Int32
    var creation: String
    var migrations: [String] = []

    /// SQLite's `user_version`.
    var version: Int32 { 1 + Int32(migrations.count) }

    /// A file of another application is never written to.
    func open(_ configuration: Configuration) throws(StoreError) -> DatabasePool {
        try checkPermissions()
        do {
            var attempts = 200
            while true {
                let found = try foundVersion()
                restrict()
                do {
                    let pool = try DatabasePool(path: path, configuration: configuration)
                    // A current database is not written to: a service can start while an import holds the write lock.
                    if found < version { try create(pool) }
                    return pool
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && found == 0 && attempts > 0 {
                    // SQLite does not wait for another process that sets the journal mode of a new file.
                    attempts -= 1
                    usleep(20_000)
                }
            }
        } catch {
            throw failure(error)
        }
    }

    /// Creates the file if it is missing, and restricts access to its owner, independent of the umask and of the mode set by earlier
    /// versions.
    private func restrict() {
        // A link whose destination is missing exists too.
        let made = OwnedFile.open(path, access(path, F_OK) == 0 ? O_RDWR | O_EXCL : O_RDWR)
        guard made < 0 else {
            close(made)
            return
        }
        // The mode is changed by path: closing a descriptor of the file would drop the locks that SQLite holds on it for the process.
        for name in [path, path + "-wal", path + "-shm"] {
            var facts = stat()
            let mode = OwnedFile.mode(at: path)
            guard stat(name, &facts) == 0, facts.st_mode & 0o777 != mode else { continue }
            chmod(name, mode)
        }
    }

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
            throw .unusable("\(path): is in use by another process: stop the service before the copy")
        } catch {
            throw failure(error)
        }
    }

    private var folderPath: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// Creates the tables or migrates them in one transaction, unless another process has just done so.
    func create(_ writer: some DatabaseWriter) throws {
        try writer.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard found < version else { return .rollback }
                let script = found == 0 ? creation : migrations.dropFirst(Int(found) - 1).joined(separator: ";\n")
                try database.execute(
                    sql: "\(script);\nPRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
                return .commit
            }
        }
    }

    func checkPermissions() throws(StoreError) {
        try ServedFile.check(path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folderPath, isDirectory: &isFolder), isFolder.boolValue else {
            throw .unusable("\(path): the folder \(folderPath) does not exist")
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else { throw .unusable("\(path): is a folder, not a database") }
            try checkFile()
            guard access(path, R_OK | W_OK) == 0 else { throw .unusable("\(path): cannot be written: \(OwnedFile.reason(path))") }
        }
        guard access(folderPath, W_OK) == 0 else {
            throw .unusable("\(path): the folder \(folderPath) cannot be written: \(OwnedFile.reason(folderPath))")
        }
    }

    /// SQLite treats a file smaller than its smallest page as a new database, and overwrites it.
    private func checkFile() throws(StoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unusable("\(path): is not a regular file") }
        guard status.st_size == 0 || status.st_size >= 512 else { throw .unusable("\(path): is not a database") }
    }

    func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try ServedFile.check(path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: path, configuration: configuration).read(body)
    }

    /// Returns true if the file exists with the current version, so that opening it writes nothing.
    func isUpToDate() throws(StoreError) -> Bool {
        do { return try foundVersion() == version } catch { throw failure(error) }
    }

    func isEmpty() throws -> Bool {
        guard try foundVersion() == 0 else { return false }
        return try reading { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") } == 0
    }

    private func foundVersion() throws -> Int32 {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        try checkFile()
        return try reading { database in
            let applicationID = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
            if applicationID == 0, version == 0, tables == 0 { return 0 }
            guard applicationID == self.applicationID else {
                throw StoreError.unusable("\(path): is a database of another program, not \(content)")
            }
            guard try !database.tableExists("grdb_migrations") else {
                throw StoreError.unusable(
                    "\(path): was written by a version before 0.1.0, which this version cannot read: import the items into a new store")
            }
            guard version <= self.version else {
                throw StoreError.unusable(
                    "\(path): was written by a newer version of this program (\(version); this version supports \(self.version))")
            }
            return version
        }
    }

    func failure(_ error: any Error) -> StoreError {
        if let error = error as? StoreError { return error }
        guard let error = error as? DatabaseError else { return .unusable("\(path): \(error)") }
        return switch error.resultCode {
        case .SQLITE_NOTADB: .unusable("\(path): is not a database")
        case .SQLITE_CORRUPT: .unusable("\(path): is corrupt; restore it from a backup")
        case .SQLITE_BUSY, .SQLITE_LOCKED: .unavailable("\(path): is locked by another process")
        case .SQLITE_CANTOPEN: .unusable("\(path): cannot be opened")
        case .SQLITE_READONLY: .unusable("\(path): cannot be written")
        case .SQLITE_FULL: .unusable("\(path): the disk is full")
        // SQLite reports an I/O error if it cannot create its companion files.
        case .SQLITE_IOERR where isDiskFull(folderPath): .unusable("\(path): the disk is full")
        default: .unusable("\(path): \(error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")")
        }
    }
}

private func isDiskFull(_ folder: String) -> Bool {
    var facts = statvfs()
    // A file system such as /proc has no blocks.
    guard statvfs(folder, &facts) == 0, facts.f_blocks > 0 else { return false }
    return facts.f_bavail.multipliedReportingOverflow(by: facts.f_frsize).partialValue < 64 << 10
}

extension DatabasePool {
    /// GRDB sets `NORMAL` with WAL, which loses the last commits in a power failure.
    func syncCommits() throws {
        try writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864") }
    }

    /// Copies the write-ahead log into the database file and truncates the log, so that the file alone is complete.
    /// `milliseconds`: the wait for a moment at which no other connection uses the log.
    func completeFile(waiting milliseconds: Int = 1_000) throws {
        try writeWithoutTransaction { database in
            let timeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
            try database.execute(sql: "PRAGMA busy_timeout = \(milliseconds)")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
            _ = try database.checkpoint(.truncate)
        }
    }
}

package enum DurableFolder {
    package static func sync(of file: String) -> Bool {
        let end = file.lastIndex(of: "/")
        let folder = end.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        return syncContent(of: folder)
    }

    static func syncContent(of path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}

extension DatabaseError: DatabaseFailure {
    package var storeError: StoreError { StoreError(self) }
}

extension StoreError {
    /// Converts an SQLite error to the error of a request in progress.
    init(_ error: DatabaseError) {
        self = .unavailable(error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")
    }
}
