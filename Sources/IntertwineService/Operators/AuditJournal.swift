internal import Foundation
internal import Glibc
internal import IntertwinePrimitives

/// A file beside the audit log with the actions of one process that have no line in the log yet.
///
/// The file is `audit.pending-…`, locked as long as its process lives. An unlocked journal belongs to a process that ended without writing
/// its lines.
final class AuditJournal {
    private static let infix = ".pending-"
    /// The number of bytes at the end of the log that are searched for lines of journaled actions.
    private static let maxScanBack = 4 << 20
    /// The initial size of the file in bytes, filled with zeros. Why: overwriting allocated bytes costs a disk less than growing and
    /// truncating a file.
    private static let room = 16 << 10

    private let path: String
    private let descriptor: Int32
    /// The end of the last action in the file, in bytes.
    private var size = 0

    /// Creates the file. Its name and its allocated bytes are on disk when the initializer returns.
    init(beside log: String) throws(AuditLogError) {
        path = Self.stem(of: log) + String(UInt64.random(in: .min ... .max), radix: 36)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system() }
        var status = stat()
        // An error from here on closes the file.
        guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
            // Another process that looked for abandoned journals removed the file before it was locked.
            throw AuditLogError.system()
        }
        guard erase(Self.room), fdatasync(descriptor) == 0 else {
            let fault = AuditLogError.system()
            remove()
            throw fault
        }
        let folder = open(URL(fileURLWithPath: log).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Appends actions; they are on disk when the method returns.
    func append(_ entries: [AuditEntry]) throws {
        var bytes: [UInt8] = []
        for entry in entries { bytes += entry.line }
        guard pwrite(descriptor, bytes, bytes.count, off_t(size)) == bytes.count, fdatasync(descriptor) == 0 else {
            let fault = AuditLogError.system()
            // A partial line would hide the next one.
            _ = erase(bytes.count)
            throw fault
        }
        size += bytes.count
    }

    /// Removes all actions, because all of them have their lines in the log.
    func clear() {
        let end = size
        size = 0
        if end > 0, !erase(end) { size = end }
    }

    /// Overwrites a number of bytes with zeros, beginning at the end of the last action.
    private func erase(_ count: Int) -> Bool {
        pwrite(descriptor, [UInt8](repeating: 0, count: count), count, off_t(size)) == count
    }

    func remove() {
        unlink(path)
    }

    private static func stem(of log: String) -> String {
        URL(fileURLWithPath: log).deletingPathExtension().path + infix
    }

    /// Returns the actions of ended processes that have no line in the log.
    ///
    /// - Parameter log: A descriptor of the log.
    static func abandoned(beside path: String, log: Int32) throws -> [AuditEntry] {
        var entries: [AuditEntry] = []
        forEachAbandoned(beside: path) { file, _ in
            for line in file.split(whereSeparator: { $0 == 0x0A || $0 == 0 }) {
                // The last line may be incomplete; its action was not begun.
                if let entry = try? JSONDecoder().decode(AuditEntry.self, from: Data(line)) { entries.append(entry) }
            }
        }
        guard !entries.isEmpty else { return [] }
        let known = tail(of: log)
        return entries.filter { entry in
            guard let id = entry.id else { return false }
            return known.firstRange(of: Data("\"id\":\"\(id)\"".utf8)) == nil
        }
    }

    /// Removes the journals of ended processes. Call it when their lines are on disk.
    static func removeAbandoned(beside path: String) {
        forEachAbandoned(beside: path) { _, name in unlink(name) }
    }

    private static func forEachAbandoned(beside path: String, _ body: ([UInt8], String) -> Void) {
        let stem = URL(fileURLWithPath: stem(of: path))
        let folder = stem.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasPrefix(stem.lastPathComponent) {
            let file = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { continue }
            defer { close(file) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else { continue }
            let bytes = (try? FileHandle(fileDescriptor: file, closeOnDealloc: false).readToEnd()) ?? Data()
            body(Array(bytes), "\(folder)/\(name)")
        }
    }

    private static func tail(of log: Int32) -> Data {
        var status = stat()
        guard fstat(log, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return Data() }
        let count = min(Int(status.st_size), maxScanBack)
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(log, &bytes, count, off_t(Int(status.st_size) - count))
        return Data(bytes.prefix(max(0, read)))
    }
}
