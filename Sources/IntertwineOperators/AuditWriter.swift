internal import CIntertwineLinux
internal import Foundation
internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// The files of an audit log: the log itself, and the journal of what is being done. Everything here blocks.
///
/// `@unchecked Sendable`: after its initialiser it is used on the log's serial queue alone.
final class AuditWriter: @unchecked Sendable {
    /// The most bytes of a line: what is kept free on the disk for each deed that is under way.
    private static let lineLimit = 32 << 10
    /// Bytes of lines that wait for a disk which takes none: refusals beyond have no line, as nothing was changed.
    private static let waitingLimit = 1 << 20
    /// Bytes that are kept free at once.
    private static let reservation = 256 << 10

    private let path: String
    private var log: Int32 = -1
    private var journal: AuditJournal?
    /// Deeds whose line is not written yet.
    private var open: Set<String> = []
    /// Lines that the disk has not taken.
    private var unwritten: [UInt8] = []
    /// Up to where the log's file has room that nobody else can take.
    private var reservedEnd: Int64 = 0

    init(path: String) throws(AuditLogError) {
        self.path = path
        log = try Self.open(path)
        do {
            let abandoned = try AuditJournal.abandoned(beside: path, log: log)
            do throws(StoreError) {
                try append(abandoned, waitsForDisk: true)
                AuditJournal.removeAbandoned(beside: path)
            } catch {
                // The disk takes no line: journals stay for the next start, and nothing is done that could have none.
                unwritten = []
            }
        } catch let fault as AuditLogError {
            throw fault
        } catch {
            throw AuditLogError("\(error)")
        }
    }

    deinit {
        close()
        if log >= 0 { Glibc.close(log) }
    }

    func close() {
        if open.isEmpty { journal?.remove() }
        journal = nil
    }

    /// Writes the lines of what is over.
    func append(_ entries: [AuditEntry], waitsForDisk: Bool) throws(StoreError) {
        do {
            for entry in entries where entry.id != nil || unwritten.count < Self.waitingLimit {
                unwritten += entry.line
                if let id = entry.id { open.remove(id) }
            }
            guard !unwritten.isEmpty else { return }
            try reopen()
            while !unwritten.isEmpty {
                // One write with O_APPEND: lines of two processes do not mix.
                let count = write(log, unwritten, unwritten.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw AuditLogError.system() }
                unwritten.removeFirst(count)
            }
            if waitsForDisk, fdatasync(log) != 0, errno != EINVAL { throw AuditLogError.system() }
        } catch {
            throw StoreError.unavailable("\(path): \(error)")
        }
        if open.isEmpty { journal?.clear() }
    }

    /// Makes sure that what begins can have its line, and has it known if the process ends before.
    func prepare(_ entries: [AuditEntry]) throws(StoreError) {
        guard !entries.isEmpty else { return }
        do {
            // What could not be written before comes first.
            try append([], waitsForDisk: true)
            try reopen()
            guard try reserve(Self.lineLimit * (open.count + entries.count)) else {
                // Where no room can be kept, what begins has a line of its own, and the outcome has the same id.
                do throws(StoreError) {
                    return try append(entries.map(\.begun), waitsForDisk: true)
                } catch {
                    // It is not begun then.
                    unwritten = []
                    throw error
                }
            }
            let journal = try journal ?? AuditJournal(beside: path)
            self.journal = journal
            try journal.append(entries)
            open.formUnion(entries.compactMap(\.id))
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError.unavailable("\(path): \(error)")
        }
    }

    /// - Returns: false where the file's system keeps no room.
    private func reserve(_ bytes: Int) throws(AuditLogError) -> Bool {
        var status = stat()
        guard fstat(log, &status) == 0 else { throw .system() }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        let end = Int64(status.st_size) + Int64(bytes)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max, UInt64(end) > limit.rlim_cur {
            throw AuditLogError(String(cString: strerror(EFBIG)))
        }
        guard end > reservedEnd else { return true }
        switch clinux_reserve(log, Int64(status.st_size), Int64(max(bytes, Self.reservation))) {
        case 0:
            reservedEnd = Int64(status.st_size) + Int64(max(bytes, Self.reservation))
            return true
        case -EOPNOTSUPP, -ENOSYS, -EINVAL, -ENODEV, -ESPIPE: return false
        case let number: throw AuditLogError(String(cString: strerror(-number)))
        }
    }

    /// Opens the log anew where it is not the file of that name any more: lines that nobody finds are none.
    private func reopen() throws(AuditLogError) {
        var (own, named) = (stat(), stat())
        if fstat(log, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino, own.st_dev == named.st_dev { return }
        let next = try Self.open(path)
        Glibc.close(log)
        (log, reservedEnd) = (next, 0)
    }

    private static func open(_ path: String) throws(AuditLogError) -> Int32 {
        let opened = Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .system() }
        return opened
    }
}

/// What the system says against a file of the audit log.
struct AuditLogError: Error, CustomStringConvertible {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// What the last call said.
    static func system() -> AuditLogError { AuditLogError(String(cString: strerror(errno))) }

    var description: String { reason }
}
