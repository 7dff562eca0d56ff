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
    /// The path as the kernel takes it, because every commit compares the file.
    private let pathBytes: ContiguousArray<CChar>
    private let device: UInt
    private let inode: UInt
    /// The finding of SQLite; nil if there is none.
    private let damage = Mutex<String?>(nil)
    private let reported = Mutex<String?>(nil)
    private let checking = Mutex<(connection: ReadConnection?, isEnded: Bool)>((nil, false))
    private let passes = Atomic(0)

    init(_ path: String) throws(StoreError) {
        self.path = path
        pathBytes = path.utf8CString
        guard let found = Self.identity(pathBytes) else { throw .unavailable("\(path): the file is missing") }
        (device, inode) = found
        Self.served.withLock { $0[ObjectIdentifier(self)] = Reference(file: self) }
    }

    deinit { _ = Self.served.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) } }

    private static func identity(_ path: ContiguousArray<CChar>) -> (device: UInt, inode: UInt)? {
        var status = stat()
        let isThere = path.withUnsafeBufferPointer { path in path.baseAddress.map { stat($0, &status) == 0 } ?? false }
        return isThere ? (UInt(status.st_dev), UInt(status.st_ino)) : nil
    }

    /// Why writes are refused, in a few words; nil if the file is sound and at its path.
    package var fault: String? {
        guard let found = Self.identity(pathBytes) else { return "the file is missing" }
        guard found == (device, inode) else { return "the file was replaced" }
        return damage.withLock { $0 }
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
            for _ in 0..<3 {
                // A connection holds a lock on the shared memory only while it has one on its file.
                guard isLockedElsewhere(path + "-shm", from: 128, count: 1), !isOpenElsewhere(path) else { return false }
                usleep(10_000)
            }
            opened.remove(path)
            return true
        }
        guard isMoved else { return }
        throw .unavailable("\(path): the file of a running service was moved away or replaced: end the service, and restore the file")
    }

    static func isOpenElsewhere(_ path: String) -> Bool { isLockedElsewhere(path, from: 0x4000_0002, count: 510) }

    package static func isServedElsewhere(_ path: String) -> Bool {
        opened.withLock { !$0.contains(path) && FileManager.default.fileExists(atPath: path) && isOpenElsewhere(path) }
    }

    private static func isLockedElsewhere(_ path: String, from start: Int, count: Int) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        var lock = Glibc.flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: start, l_len: count, l_pid: 0)
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
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
        guard let error = error as? DatabaseError, [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) else { return }
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
