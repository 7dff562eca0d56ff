internal import Foundation
internal import Glibc
internal import IntertwinePrimitives

/// The deeds of one process that have no line in the audit log yet: a file beside it, locked for as long as the process lives.
///
/// `audit.pending-…`. One that nobody has locked belongs to a process that has ended without writing its lines.
final class AuditJournal {
    private static let infix = ".pending-"
    /// Bytes at the end of the log that are looked through for deeds that have their line after all.
    private static let maxScanBack = 4 << 20
    /// Bytes that the file has from the start, zeros where nothing stands: to write over some of them is less work for a disk than to make a
    /// file longer, and to shorten it again.
    private static let room = 16 << 10

    private let path: String
    private let descriptor: Int32
    /// Where the last deed ends.
    private var size = 0

    /// Makes the file, and has its name and its room on disk.
    init(beside log: String) throws(AuditLogError) {
        path = Self.stem(of: log) + String(UInt64.random(in: .min ... .max), radix: 36)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system() }
        var status = stat()
        // What is thrown from here on has the file closed.
        guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
            // Somebody who looked for abandoned ones was quicker than the lock.
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

    /// Adds deeds, on disk when it is back.
    func append(_ entries: [AuditEntry]) throws {
        var bytes: [UInt8] = []
        for entry in entries { bytes += entry.line }
        guard pwrite(descriptor, bytes, bytes.count, off_t(size)) == bytes.count, fdatasync(descriptor) == 0 else {
            let fault = AuditLogError.system()
            // Half a line would hide the next one.
            _ = erase(bytes.count)
            throw fault
        }
        size += bytes.count
    }

    /// All deeds have their lines.
    func clear() {
        let end = size
        size = 0
        if end > 0, !erase(end) { size = end }
    }

    /// Writes zeros from the end on.
    private func erase(_ count: Int) -> Bool {
        pwrite(descriptor, [UInt8](repeating: 0, count: count), count, off_t(size)) == count
    }

    func remove() {
        unlink(path)
    }

    private static func stem(of log: String) -> String {
        URL(fileURLWithPath: log).deletingPathExtension().path + infix
    }

    /// What processes that have ended were doing and did not write down.
    ///
    /// - Parameter log: a descriptor of the log.
    static func abandoned(beside path: String, log: Int32) throws -> [AuditEntry] {
        var entries: [AuditEntry] = []
        forEachAbandoned(beside: path) { file, _ in
            for line in file.split(whereSeparator: { $0 == 0x0A || $0 == 0 }) {
                // The last line may be half a one: what it tells of was not begun.
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

    /// Removes the journals of processes that have ended: to be called once their lines are on disk.
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
