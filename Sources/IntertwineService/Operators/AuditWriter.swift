internal import CIntertwineLinux
internal import Foundation
internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// The files of an audit log: the log itself, and the journal of actions in progress. Every method blocks.
///
/// `@unchecked Sendable`: after its initializer the writer is used on the log's serial queue only.
final class AuditWriter: @unchecked Sendable {
    /// The maximum size of a line in bytes: the disk space that is reserved for each action in progress.
    private static let lineLimit = 32 << 10
    /// The maximum number of bytes of lines that wait for a full disk. Further refusals get no line, because they changed nothing.
    private static let waitingLimit = 1 << 20
    /// The number of bytes of disk space that are reserved in one call.
    private static let reservation = 256 << 10

    private let path: String
    private var log: Int32 = -1
    private var journal: AuditJournal?
    /// The identifiers of actions whose line is not written yet.
    private var open: Set<String> = []
    /// Lines that the disk has not accepted.
    private var unwritten: [UInt8] = []
    /// The end of the log's reserved disk space, as an offset in bytes.
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
                // The disk accepts no line. Journals stay for the next start, and an action that could not get a line is not performed.
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

    /// Appends the lines of ended actions.
    func append(_ entries: [AuditEntry], waitsForDisk: Bool) throws(StoreError) {
        do {
            for entry in entries where entry.id != nil || unwritten.count < Self.waitingLimit {
                unwritten += entry.line
                if let id = entry.id { open.remove(id) }
            }
            guard !unwritten.isEmpty else { return }
            try reopen()
            // One write with O_APPEND: lines of two processes do not mix.
            let count = unwritten.withUnsafeBytes { FileIO.write($0, to: log) }
            guard count == unwritten.count else {
                let error = AuditLogError.system()
                unwritten.removeFirst(count)
                throw error
            }
            unwritten.removeAll(keepingCapacity: true)
            if waitsForDisk, fdatasync(log) != 0, errno != EINVAL { throw AuditLogError.system() }
        } catch {
            throw StoreError.unavailable("\(path): \(error)")
        }
        if open.isEmpty { journal?.clear() }
    }

    /// Reserves disk space for the lines of actions that begin, and adds the actions to the journal.
    func prepare(_ entries: [AuditEntry]) throws(StoreError) {
        guard !entries.isEmpty else { return }
        do {
            // Pending lines of earlier actions come first.
            try append([], waitsForDisk: true)
            try reopen()
            guard try reserve(Self.lineLimit * (open.count + entries.count)) else {
                // If no space can be reserved, the begin of an action gets a line of its own, and its outcome has the same id.
                do throws(StoreError) {
                    return try append(entries.map(\.begun), waitsForDisk: true)
                } catch {
                    // The action is not begun in this case.
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

    /// Reserves disk space at the end of the log.
    ///
    /// - Returns: False if the file system cannot reserve space.
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

    /// Reopens the log if its path refers to another file now. Why: lines in a removed or renamed file would not be found.
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

/// An error of the system for a file of the audit log.
struct AuditLogError: Error, CustomStringConvertible {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// Returns the error of the last system call.
    static func system() -> AuditLogError { AuditLogError(String(cString: strerror(errno))) }

    var description: String { reason }
}
