internal import Foundation
internal import Glibc

/// The limit of open files and sockets of the process.
enum FileDescriptors {
    /// The number of descriptors that listeners, event loops and signals need before the first client.
    static let ofServing = 16 + 4 * ProcessInfo.processInfo.activeProcessorCount
    /// The number of descriptors that the databases need to open.
    static let ofStores = 16

    /// Checks that a number of further descriptors can be opened.
    ///
    /// Why: without a descriptor, the waiting calls for connections, events and signals end the process without a message.
    ///
    /// - Throws: `ConfigurationError` with the remedy.
    static func require(_ count: Int) throws {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<count {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let needed = Int(clamping: limit.rlim_cur) + count - opened.count
                throw ConfigurationError(
                    "the process may open \(limit.rlim_cur) files at once; to serve it needs \(needed) and one for each client (ulimit -n)")
            }
            opened.append(descriptor)
        }
    }
}
