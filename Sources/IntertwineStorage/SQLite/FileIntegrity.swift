import GRDB
import Glibc
internal import IntertwineItems
import Synchronization

/// The known damage of an open database file. Known damage persists until another file replaces the file.
///
/// Each commit checks the ends of both files: header and size of the main file, header and last frame of the write-ahead log.
/// ``FileCheck`` checks all other pages.
final class FileIntegrity: Sendable {
    private struct State {
        var reason: String?
        /// The largest observed size of the main file.
        var largest: Int64 = 0
    }

    /// The files that are known to be damaged, for code that opens them on separate connections.
    private static let damaged = Mutex<[FileIdentity.Stamp]>([])

    private let path: String
    private let stamp: FileIdentity.Stamp?
    private let isKnown = Atomic(false)
    private let state = Mutex(State())
    private let log: Int32

    /// Creates the integrity state of a file.
    ///
    /// - Parameter path: the path of the main file. The file of its log must exist.
    init(_ path: String) {
        self.path = path
        stamp = FileIdentity.Stamp(path)
        log = open(path + "-wal", O_RDONLY | O_CLOEXEC)
    }

    deinit {
        if log >= 0 { close(log) }
        guard let stamp, isKnown.load(ordering: .relaxed) else { return }
        Self.damaged.withLock { $0.removeAll { $0.isSameFile(as: stamp) } }
    }

    /// Checks that a file is not known to be damaged.
    ///
    /// - Throws: `StoreError.unavailable` if the file at the path is open elsewhere in this process and known to be damaged.
    static func check(_ path: String) throws(StoreError) {
        guard let stamp = FileIdentity.Stamp(path) else { return }
        guard !damaged.withLock({ $0.contains { $0.isSameFile(as: stamp) } }) else { throw .unavailable("\(path): is corrupt") }
    }

    /// A short description of the damage; nil if none is known.
    var damage: String? { isKnown.load(ordering: .relaxed) ? state.withLock { $0.reason } : nil }

    /// Records damage.
    func note(_ reason: String) {
        let isNew = state.withLock { state in
            defer { state.reason = state.reason ?? "it is corrupt: \(reason)" }
            return state.reason == nil
        }
        guard isNew else { return }
        isKnown.store(true, ordering: .relaxed)
        if let stamp { Self.damaged.withLock { $0.append(stamp) } }
    }

    /// Records an error if it shows damage.
    func note(_ error: any Error) {
        guard let error = error as? DatabaseError, [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) else { return }
        note(error.message ?? "\(error.resultCode)")
    }

    /// Checks the ends of both files, and records damage.
    ///
    /// - Parameters:
    ///   - connection: a connection that the caller owns.
    ///   - commits: gives the position of the log.
    func look(_ connection: any SQLConnection, _ commits: WALChangeCounter) {
        var attempts = 3
        // A write of another process in progress is complete a moment later.
        while damage == nil, let reason = try? finding(DatabaseBytes(connection), commits) {
            attempts -= 1
            guard attempts > 0 else { return note(reason) }
            usleep(20_000)
        }
    }

    private func finding(_ file: DatabaseBytes, _ commits: WALChangeCounter) throws -> String? {
        let bytes = try file.bytes(DatabaseHeader.length, at: 0)
        guard let bytes else { return "its header is truncated" }
        guard let header = DatabaseHeader(bytes) else { return "its header is overwritten" }
        let size = try file.size()
        let isCut = state.withLock { state in
            if size < state.largest, size < header.pages * Int64(header.pageSize) { return true }
            state.largest = size
            return false
        }
        if isCut { return "it is truncated" }
        guard let position = commits.log, position.frames > 0, !holds(position) else { return nil }
        // The position is compared again, because another connection may have committed in between.
        return commits.log == position ? "its write-ahead log is overwritten or truncated" : nil
    }

    /// Returns true if the log has the header and the frame that SQLite wrote at a position, or if there is no log.
    private func holds(_ position: WALChangeCounter.LogPosition) -> Bool {
        guard log >= 0 else { return true }
        guard let bytes = read(WriteAheadLogCheck.Header.size, at: 0) else { return false }
        guard let header = WriteAheadLogCheck.Header(bytes), header.salt.elementsEqual(position.salt) else { return false }
        let offset = header.offset(ofFrame: Int(position.frames) - 1)
        guard let frame = read(WriteAheadLogCheck.frameHeaderSize, at: Int64(offset)) else { return false }
        return header.owns(frame: frame) && frame[16..<24].elementsEqual(position.checksum)
    }

    private func read(_ count: Int, at offset: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(log, &bytes, count, off_t(offset)) == count ? bytes : nil
    }
}
