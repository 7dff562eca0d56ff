internal import CIntertwineLinux
import Glibc

/// Room on the disk of the data folder that is kept for starts: a file, `start.reserve`.
///
/// Why: SQLite makes a `-shm` file of 32 KiB for each database that it opens, and opens none if the disk has no room for that. A start on a
/// full disk gives the reserve back, opens the databases, and serves what needs no more room.
package struct DiskRoom {
    /// Bytes for the `-shm` files of items and ledger, for the first pages of their `-wal` files, and for the entries of folders.
    private static let size: Int64 = 160 << 10

    private let path: String
    private let folder: String

    /// - Parameter path: the reserve's file, in the folder of the databases.
    package init(path: String) {
        self.path = path
        let end = path.lastIndex(of: "/")
        folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Gives the room back if the disk has less left than that. To be called before the databases are opened.
    ///
    /// - Returns: whether it was given back.
    package func release() -> Bool {
        guard let free = Self.free(folder), free < Self.size else { return false }
        return unlink(path) == 0
    }

    /// Keeps the room, unless it is kept already, or the disk has little more. To be called when the databases are open.
    package func reserve() {
        guard access(path, F_OK) != 0, let free = Self.free(folder), free > 4 * Self.size else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Some file systems keep no room without content.
        guard clinux_reserve(descriptor, 0, Self.size) != 0 else { return }
        let zeros = [UInt8](repeating: 0, count: Int(Self.size))
        if write(descriptor, zeros, zeros.count) != zeros.count { unlink(path) }
    }

    /// Whether the disk of a folder has no room for another page of a database.
    static func isFull(_ folder: String) -> Bool { free(folder).map { $0 < 64 << 10 } ?? false }

    /// Bytes that this user may still write; nil if nobody can say.
    private static func free(_ folder: String) -> Int64? {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else { return nil }
        return Int64(clamping: facts.f_bavail.multipliedReportingOverflow(by: facts.f_frsize).partialValue)
    }
}
