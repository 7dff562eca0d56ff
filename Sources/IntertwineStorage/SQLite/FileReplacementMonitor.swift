import Glibc
import IntertwineFeed

/// What became of a database file under the process that has it open.
package enum FileChange: Sendable, Hashable {
    /// It is not there any more, or not alone: nothing is written. One line for operators.
    case gone(String)
    /// Damage of it became known: nothing is written. One line for operators.
    case damaged(String)
    /// It is there again, or another one that is served from now on. One line for operators.
    case back(String)
}

/// Judges, from one look to the next, what became of a database file.
struct FileReplacementMonitor {
    private(set) var isGone = false
    /// Another file that has taken the place: opened once it has stopped changing, as whoever copies it there may not be done.
    private var successor: FileIdentity.Stamp?

    /// - Parameter open: opens what stands at the path instead; what it throws is tried again with the next look.
    mutating func check(file: FileIdentity, open: () throws -> Void) -> FileChange? {
        guard let fault = file.error else {
            guard isGone else { return nil }
            self = FileReplacementMonitor()
            return .back("\(file.path): is back")
        }
        if !isGone {
            isGone = true
            successor = file.successor
            guard file.place != nil else {
                return .damaged("\(file.path): \(fault); nothing is written until another file has taken its place")
            }
            return .gone("\(file.path): \(fault); nothing is written until it is back")
        }
        guard let found = file.successor, found == successor else {
            successor = file.successor
            return nil
        }
        do {
            file.removeCompanions()
            try open()
            self = FileReplacementMonitor()
            return .back("\(file.path): another file has taken its place, and is served from now on")
        } catch {
            return nil
        }
    }
}

/// The files that connections have open, and whether they are still what stands at their paths.
///
/// SQLite goes on writing to a file that was deleted or replaced, and says so to nobody: all of it is gone with the process.
struct FileIdentity: Sendable {
    /// What stands at a path.
    struct Stamp: Hashable {
        private var device: UInt
        private var inode: UInt
        private var size: Int
        private var modified: Int

        /// Nil where there is no file.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, inode) = (UInt(facts.st_dev), UInt(facts.st_ino))
            (size, modified) = (Int(facts.st_size), facts.st_mtim.tv_sec &* 1_000_000_000 &+ facts.st_mtim.tv_nsec)
        }

        func isSameFile(as other: Stamp) -> Bool { device == other.device && inode == other.inode }
    }

    private static let companions = ["-wal", "-shm"]

    let path: String
    let integrity: FileIntegrity
    private let database: Stamp
    private let others: [String: Stamp]

    /// To be called once a connection has read: the files beside the database are there from then on.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` where the file is gone already.
    init(_ path: String) throws(StoreError) {
        self.path = path
        guard let database = Stamp(path) else { throw .unavailable("\(path): is gone") }
        self.database = database
        integrity = FileIntegrity(path)
        others = Dictionary(uniqueKeysWithValues: Self.companions.compactMap { name in Stamp(path + name).map { (name, $0) } })
    }

    /// What is wrong, in a few words; nil where all is as it was.
    var error: String? { place ?? integrity.damage }

    /// What is wrong with the places of the files, in a few words; nil where they are as they were.
    var place: String? {
        guard let found = Stamp(path) else { return "the file is gone" }
        guard found.isSameFile(as: database) else { return "another file has taken its place" }
        let isWhole = others.allSatisfy { name, stamp in Stamp(path + name).map { $0.isSameFile(as: stamp) } ?? false }
        return isWhole ? nil : "a file that belongs to it (-wal or -shm) is gone"
    }

    /// Another database that stands at the path; nil where there is none, or this one.
    var successor: Stamp? {
        Stamp(path).flatMap { $0.isSameFile(as: database) ? nil : $0 }
    }

    /// Takes away what this database has left beside another one, which would read it as its own.
    func removeCompanions() {
        for (name, stamp) in others where Stamp(path + name)?.isSameFile(as: stamp) == true { unlink(path + name) }
    }
}
