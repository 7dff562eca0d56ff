import Glibc
import IntertwineFeed

/// An empty file beside the items' in which one snapshot is collected, by one process at a time. It is gone with its owner, or emptied by
/// the next one.
struct StagingFile {
    let path: String
    private let descriptor: Int32

    /// - Throws: ``SnapshotRefusal/busy(_:)`` while the same source is being synchronised elsewhere; `StoreError.unusable`.
    init(of source: String, beside database: String) throws {
        let path = "\(database).source-\(source)"
        self.path = path
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw StoreError.unusable("\(path): cannot be written: \(String(cString: strerror(errno)))") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw SnapshotRefusal.busy(source)
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
