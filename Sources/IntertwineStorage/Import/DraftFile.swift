import Foundation
import Glibc
import IntertwineFeed

/// A file beside the place of another that does not exist yet, `NAME.draft-N`: made in peace, and moved there when it is whole.
///
/// It is locked as long as its process lives, so that the next one can tell a draft that was left behind, and remove it.
final class DraftFile {
    let path: String
    private let place: String
    private let descriptor: Int32

    /// - Throws: ``StoreError/unusable(_:)`` where the folder takes no file.
    init(for place: String) throws(StoreError) {
        self.place = place
        for number in 1...64 {
            let path = "\(place).draft-\(number)"
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            if descriptor < 0, errno == EEXIST { continue }
            guard descriptor >= 0 else { throw .unusable("\(place): cannot be made: \(String(cString: strerror(errno)))") }
            // Who locked it between the two calls took it for abandoned.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                continue
            }
            self.path = path
            self.descriptor = descriptor
            return
        }
        throw .unavailable("\(place): too many imports at once")
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// Moves the draft, durably, to its place unless there is a file already; false then, and where the file system has no links.
    func takePlace() throws(StoreError) -> Bool {
        guard DurableFolder.syncContent(of: path) else {
            throw .unavailable("\(place): cannot be written: \(String(cString: strerror(errno)))")
        }
        // Unlike a rename, a link never replaces what somebody made in the meantime.
        guard link(path, place) == 0 else {
            guard [EEXIST, EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else {
                throw .unavailable("\(place): cannot be put in place: \(String(cString: strerror(errno)))")
            }
            return false
        }
        remove()
        guard DurableFolder.sync(of: place) else {
            throw .unavailable("\(place): cannot be written: \(String(cString: strerror(errno)))")
        }
        return true
    }

    /// Removes the draft and SQLite's journals of it, where they are there.
    func remove() {
        Self.remove(path)
    }

    private static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Removes the drafts whose process ended before they were whole.
    static func removeAbandoned(_ place: String) {
        for number in 1...64 {
            let path = "\(place).draft-\(number)"
            let descriptor = open(path, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(descriptor)
        }
    }
}
