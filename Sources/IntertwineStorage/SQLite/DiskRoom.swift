internal import CIntertwineLinux
import Glibc

/// Disk space in the data folder that is reserved for starts, in the file `start.reserve`.
///
/// Why: SQLite creates a `-shm` file of 32 KiB for each database that it opens, and opens none if the disk has no space for that.
/// A start on a full disk frees the reserve, opens the databases, and serves requests that need no more space.
package struct DiskRoom {
    /// The size in bytes for the `-shm` files of items and ledger, the first pages of their `-wal` files, and the folder entries.
    private static let size: Int64 = 160 << 10

    private let path: String
    private let folder: String

    /// Creates a reserve.
    ///
    /// - Parameter path: the file of the reserve, in the folder of the databases.
    package init(path: String) {
        self.path = path
        let end = path.lastIndex(of: "/")
        folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Frees the reserve if the disk has less space left than its size. Call it before the databases are opened.
    ///
    /// - Returns: true if the reserve was freed.
    package func release() -> Bool {
        guard let free = Self.free(folder), free < Self.size else { return false }
        return unlink(path) == 0
    }

    /// Allocates the reserve, unless it exists or the disk has little more space. Call it when the databases are open.
    package func reserve() {
        guard access(path, F_OK) != 0, let free = Self.free(folder), free > 4 * Self.size else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Some file systems reserve no space without content.
        guard clinux_reserve(descriptor, 0, Self.size) != 0 else { return }
        let zeros = [UInt8](repeating: 0, count: Int(Self.size))
        if write(descriptor, zeros, zeros.count) != zeros.count { unlink(path) }
    }

    /// Returns true if the disk of a folder has no space for another database page.
    static func isFull(_ folder: String) -> Bool { free(folder).map { $0 < 64 << 10 } ?? false }

    /// Returns the bytes that this user can still write, or nil if the system does not report them.
    private static func free(_ folder: String) -> Int64? {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else { return nil }
        return Int64(clamping: facts.f_bavail.multipliedReportingOverflow(by: facts.f_frsize).partialValue)
    }
}
