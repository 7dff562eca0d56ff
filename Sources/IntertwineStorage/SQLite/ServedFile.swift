internal import Foundation
import GRDB
import GRDBSQLite
import Glibc
internal import IntertwineFeed
package import IntertwineStorageCore
import Synchronization

/// Why: what is written to a file that was moved is lost. A second connection to the path would create another store, or replay the
/// write-ahead log of this file into the other one.
package final class ServedFile: Sendable {
    private struct Reference {
        weak var file: ServedFile?
    }

    private static let served = Mutex<[ObjectIdentifier: Reference]>([:])
    private static let opened = Mutex<Set<String>>([])

    package let path: String
    private struct Identity: Equatable {
        let device: UInt
        let inode: UInt
    }

    /// The path as the kernel takes it, because every commit compares the file.
    private let pathBytes: ContiguousArray<CChar>
    /// The path without links. Why: a link that takes the place of the file leads to the file, but SQLite has its log beside the file.
    private let resolvedBytes: ContiguousArray<CChar>
    private let identity: Identity
    /// The other files of SQLite, from when they are there: they stay until the last connection is closed.
    private let companions: Mutex<[(path: String, identity: Identity?)]>
    private let isFilled = Atomic(false)
    /// The finding of SQLite; nil if there is none.
    private let damage = Mutex<String?>(nil)
    private let reported = Mutex<String?>(nil)
    private let checking = Mutex<(connection: ReadConnection?, isEnded: Bool)>((nil, false))
    private let passes = Atomic(0)
    /// The folder with a lock on the file's name, or -1. Why: other processes see neither a file that was moved away nor the locks on it.
    private let folder: Int32

    /// `keepsLog`: true if a connection stays open as long as this object lives.
    init(_ path: String, keepsLog: Bool = false) throws(StoreError) {
        self.path = path
        pathBytes = path.utf8CString
        guard let found = Self.status(pathBytes) else { throw .unavailable("\(path): the file is missing") }
        identity = found.identity
        let resolved = Self.withoutLinks(path)
        resolvedBytes = resolved.utf8CString
        companions = Mutex((keepsLog ? Self.companions : []).map { (resolved + $0, nil) })
        folder = open(Self.folder(resolved), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        lockName(resolved)
        Self.served.withLock { $0[ObjectIdentifier(self)] = Reference(file: self) }
    }

    deinit {
        _ = Self.served.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
        close(folder)
    }

    /// `F_OFD_SETLK` and `F_OFD_GETLK` of Linux. Why: the other locks of a process end when it closes any descriptor of the folder.
    private static let (setLock, getLock): (Int32, Int32) = (37, 36)

    private static let companions = ["-wal", "-shm"]

    private static func withoutLinks(_ path: String) -> String {
        let found = realpath(path, nil)
        defer { free(found) }
        return found.map { String(cString: $0) } ?? path
    }

    private static func folder(_ path: String) -> String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    private static func nameLock(_ path: String, _ type: Int16) -> Glibc.flock {
        let name = (path as NSString).lastPathComponent
        let start = name.utf8.reduce(UInt64(0)) { $0 &* 0x100_0000_01B3 ^ UInt64($1) } >> 2
        return Glibc.flock(l_type: type, l_whence: Int16(SEEK_SET), l_start: Int(start), l_len: 1, l_pid: 0)
    }

    private func lockName(_ path: String) {
        var lock = Self.nameLock(path, Int16(F_RDLCK))
        // Some file systems have no locks on folders.
        _ = fcntl(folder, Self.setLock, &lock)
    }

    private static func isNameLocked(_ path: String) -> Bool {
        let folder = open(folder(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { close(folder) }
        var lock = nameLock(path, Int16(F_WRLCK))
        return fcntl(folder, getLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    private static func status(_ path: ContiguousArray<CChar>, followingLinks: Bool = true) -> (identity: Identity, isEmpty: Bool)? {
        var status = stat()
        let isThere = path.withUnsafeBufferPointer { path in
            path.baseAddress.map { (followingLinks ? stat($0, &status) : lstat($0, &status)) == 0 } ?? false
        }
        return isThere ? (Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino)), status.st_size == 0) : nil
    }

    /// Why writes are refused, in a few words; nil if the file is sound and at its path, with its log.
    package var fault: String? {
        guard let found = Self.status(pathBytes) else { return "the file is missing" }
        guard found.identity == identity, Self.status(resolvedBytes, followingLinks: false)?.identity == identity else {
            return "the file was replaced"
        }
        if found.isEmpty, isFilled.load(ordering: .relaxed) { return "the file is empty" }
        if !found.isEmpty { isFilled.store(true, ordering: .relaxed) }
        let isComplete = companions.withLock { companions in
            companions.indices.allSatisfy { index in
                let path = companions[index].path
                let found = Self.status(path.utf8CString, followingLinks: false)?.identity
                guard let known = companions[index].identity else {
                    companions[index].identity = found
                    if let found {
                        lockName(Self.name(path, found))
                        lockName(path)
                    }
                    return true
                }
                return found == known
            }
        }
        return isComplete ? damage.withLock { $0 } : "its write-ahead log is missing or was replaced"
    }

    func check() throws(StoreError) {
        if let fault { throw .unavailable("\(path): \(fault)") }
    }

    /// Call it before a connection is opened.
    static func check(_ path: String) throws(StoreError) {
        let files = served.withLock { $0.values.compactMap(\.file) }
        for file in files where file.path == path { try file.check() }
        // Closing a descriptor of a file drops the locks of the process's connections, so the locks are read before the first one, while
        // other threads wait.
        let isMoved = opened.withLock { opened in
            guard opened.insert(path).inserted else { return false }
            // A process that ends may drop the locks one after the other.
            for _ in 0..<25 {
                // A served file has a lock on its name and one on itself, which is elsewhere if the file is, and its log beside it.
                let resolved = withoutLinks(path)
                let isServed = isNameLocked(resolved)
                let isLinked = !isServed && resolved != path && isNameLocked(path)
                guard isLinked || isServed && (!isOpenElsewhere(resolved) || isLogMissing(resolved)) else { return false }
                usleep(20_000)
            }
            opened.remove(path)
            return true
        }
        guard isMoved else { return }
        throw .unavailable("\(path): the file of a running service was moved away or replaced: end the service, and restore the file")
    }

    private static func isOpenElsewhere(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        var lock = Glibc.flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0x4000_0002, l_len: 510, l_pid: 0)
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Why: SQLite has no lock on the log, so another file at its path would be taken for it.
    private static func isLogMissing(_ path: String) -> Bool {
        companions.map { path + $0 }.contains { path in
            guard let found = status(path.utf8CString, followingLinks: false)?.identity else { return true }
            return isNameLocked(path) && !isNameLocked(name(path, found))
        }
    }

    /// The inode is not at the end, because the place of a lock is without the last bits of the hash.
    private static func name(_ path: String, _ identity: Identity) -> String { "\(path) \(identity.inode) file" }

    static func isUsedElsewhere(_ path: String) -> Bool {
        let path = withoutLinks(path)
        return isNameLocked(path) || access(path, R_OK) == 0 && isOpenElsewhere(path)
    }

    func writing<Value>(_ body: () throws -> Value) throws -> Value {
        try check()
        do {
            let value = try body()
            if let fault { throw StoreError.uncertain("\(path): \(fault)") }
            return value
        } catch {
            note(error)
            throw error
        }
    }

    /// The bytes that SQLite has allocated in this process: page caches, which have a limit for each connection, and statements.
    package static var memoryInUse: Int { Int(sqlite3_memory_used()) }

    // MARK: Corruption

    package var isCorrupt: Bool { damage.withLock { $0 != nil } }

    package var completeChecks: Int { passes.load(ordering: .relaxed) }

    func note(_ error: any Error) {
        guard let error = error as? DatabaseError,
            // The log is shorter than its index. Why: what is written behind such a gap is lost at the next start.
            [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) || error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
        else { return }
        note(error.message ?? "\(error.resultCode)")
    }

    private func note(_ reason: String) { damage.withLock { $0 = $0 ?? "it is corrupt: \(reason)" } }

    /// Each table has a read transaction of its own, so that the write-ahead log is not held for the whole check.
    package func checkContent() {
        defer { checking.withLock { $0.connection = nil } }
        do {
            try check()
            // A connection with cached pages would not read what is on disk.
            let connection = try ReadConnection(path, busyTimeout: 5, pragmas: "PRAGMA cache_size = -4096; PRAGMA mmap_size = 0")
            for table in try Self.tables(connection) {
                let isEnded = checking.withLock { checking in
                    checking.connection = connection
                    return checking.isEnded
                }
                guard !isEnded, fault == nil else { return }
                if let finding = try Self.findings(connection, in: table).first { return note(finding) }
            }
            passes.add(1, ordering: .relaxed)
        } catch {
            note(error)
        }
    }

    package func endCheck() {
        checking.withLock { checking in
            checking.isEnded = true
            checking.connection?.interrupt()
        }
    }

    private static func tables(_ connection: any SQLConnection) throws -> [String] {
        let statement = try SQLStatement(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    static func findings(_ connection: any SQLConnection, in table: String? = nil) throws -> [String] {
        let subject = table.map { "\"\($0)\"" } ?? "100"
        let check = try SQLStatement(connection, "PRAGMA integrity_check(\(subject))")
        defer { check.reset() }
        var findings: [String] = []
        while try check.step() {
            findings += check.text(0).split(separator: "\n").map(String.init).filter { $0 != "ok" && !$0.hasPrefix("***") }
        }
        return findings
    }

    // MARK: Reports

    /// One caller at a time.
    package func change() -> FileChange? {
        let fault = fault
        return reported.withLock { last in
            defer { last = fault }
            if fault == last { return nil }
            guard let fault else { return .back("\(path): is available again") }
            return isCorrupt
                ? .damaged("\(path): \(fault); writes are rejected until a backup is restored")
                : .gone("\(path): \(fault); writes are rejected until the service is restarted with its file")
        }
    }
}
