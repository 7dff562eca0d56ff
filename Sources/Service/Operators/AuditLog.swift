internal import Feed
internal import Foundation
internal import Glibc
internal import Synchronization

/// The append-only record of what operators wrote: a line of JSON for each, there before the answer is sent.
final class AuditLog: Sendable {
    struct Entry: Encodable, Sendable {
        var time: String
        var who: String
        var method: String
        var path: String
        var status: Int
        var outcome: String
    }

    private let path: String
    private let descriptor: Mutex<Int32>

    /// - Throws: ``ConfigurationError`` where the file cannot be written.
    init(path: String) throws(ConfigurationError) {
        self.path = path
        let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else {
            throw ConfigurationError("\(path): the audit log cannot be written: \(String(cString: strerror(errno)))")
        }
        descriptor = Mutex(opened)
    }

    deinit {
        let opened = descriptor.withLock { $0 }
        close(opened)
    }

    /// Appends an entry.
    ///
    /// - Parameter waitsForDisk: whether to come back only once the entry is there even after a power cut.
    /// - Throws: ``StoreError`` where the disk does not take it.
    func append(_ entry: Entry, waitsForDisk: Bool = true) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        let line = Array(try encoder.encode(entry)) + [0x0A]
        try descriptor.withLock { descriptor throws(StoreError) in
            // One write with O_APPEND: lines of two processes do not mix.
            guard write(descriptor, line, line.count) == line.count, !waitsForDisk || fdatasync(descriptor) == 0 else {
                throw StoreError.unavailable("\(path): \(String(cString: strerror(errno)))")
            }
        }
    }
}
