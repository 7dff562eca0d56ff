import Glibc
internal import IntertwineItems

/// A monitor that detects changes of a database file between checks.
struct FileReplacementMonitor {
    private(set) var isMissing = false
    /// The other file at the path. It is opened once it has stopped changing, because a copy may be in progress.
    private var successor: FileIdentity.Stamp?

    /// Compares the file with the previous check.
    ///
    /// - Parameter open: opens the current file at the path. If it throws, the next check tries again.
    mutating func check(file: FileIdentity, open: () throws -> Void) -> FileChange? {
        guard let fault = file.error else {
            guard isMissing else { return nil }
            self = FileReplacementMonitor()
            return .back("\(file.path): is available again")
        }
        if !isMissing {
            isMissing = true
            successor = file.successor
            guard file.replacementError != nil else {
                return .damaged("\(file.path): \(fault); writes are rejected until the file is replaced")
            }
            return .gone("\(file.path): \(fault); writes are rejected until it is restored")
        }
        guard let found = file.successor, found == successor else {
            successor = file.successor
            return nil
        }
        do {
            file.removeCompanions()
            try open()
            self = FileReplacementMonitor()
            return .back("\(file.path): the file was replaced, and the new one is served")
        } catch {
            return nil
        }
    }
}

/// The identity of the files that connections have open, to compare with the files at their paths.
///
/// The device, inode, size and modification time of the file at a path.
struct FileIdentity: Sendable {
    /// The device, inode and attributes of the file at a path.
    struct Stamp: Hashable {
        private var device: UInt
        private var inode: UInt
        private var size: Int
        private var modified: Int

        /// Reads the stamp of a path; nil if there is no file.
        init?(_ path: String) {
            guard let stamp = path.withCString({ Stamp(at: $0) }) else { return nil }
            self = stamp
        }

        /// Reads the stamp without an allocation.
        fileprivate init?(at path: UnsafePointer<CChar>) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, inode) = (UInt(facts.st_dev), UInt(facts.st_ino))
            (size, modified) = (Int(facts.st_size), facts.st_mtim.tv_sec &* 1_000_000_000 &+ facts.st_mtim.tv_nsec)
        }

        func isSameFile(as other: Stamp) -> Bool { device == other.device && inode == other.inode }
    }

    /// A file of the database. Its path is stored as the kernel takes it, because every commit checks it.
    private struct KnownFile {
        let path: String
        private let bytes: ContiguousArray<CChar>
        let stamp: Stamp

        /// Reads the stamp; nil if there is no file.
        init?(_ path: String) {
            guard let stamp = Stamp(path) else { return nil }
            (self.path, self.stamp, bytes) = (path, stamp, path.utf8CString)
        }

        /// The stamp of the file that is at the path now; nil if there is none.
        var current: Stamp? { bytes.withUnsafeBufferPointer { $0.baseAddress.flatMap { Stamp(at: $0) } } }
    }

    private static let companions = ["-wal", "-shm"]

    let path: String
    let integrity: FileIntegrity
    private let database: KnownFile
    private let others: [KnownFile]

    /// Reads the identity. Call it after a connection has read, when the companion files exist.
    ///
    /// - Throws: `StoreError.unavailable` if the file is missing already.
    init(_ path: String) throws(StoreError) {
        self.path = path
        guard let database = KnownFile(path) else { throw .unavailable("\(path): is missing") }
        self.database = database
        integrity = FileIntegrity(path)
        others = Self.companions.compactMap { KnownFile(path + $0) }
    }

    /// A short description of the error; nil if the files are unchanged.
    var error: String? { replacementError ?? integrity.damage }

    /// A short description of a missing or replaced file; nil if the files are at their paths.
    var replacementError: String? {
        guard let found = database.current else { return "the file is missing" }
        guard found.isSameFile(as: database.stamp) else { return "the file was replaced" }
        let isWhole = others.allSatisfy { other in other.current.map { $0.isSameFile(as: other.stamp) } ?? false }
        return isWhole ? nil : "its -wal or -shm file is missing"
    }

    /// The stamp of another database at the path; nil if the path is empty or the file is unchanged.
    var successor: Stamp? {
        database.current.flatMap { $0.isSameFile(as: database.stamp) ? nil : $0 }
    }

    /// Removes the companion files of the replaced database, which the new database would read as its own.
    func removeCompanions() {
        for other in others where other.current?.isSameFile(as: other.stamp) == true { unlink(other.path) }
    }
}
