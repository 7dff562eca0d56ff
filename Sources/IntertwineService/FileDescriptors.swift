internal import Foundation
internal import Glibc
internal import IntertwineDeclarations

/// The files and sockets that the process may open at once.
enum FileDescriptors {
    /// What listeners, loops and signals take, before the first client.
    static let ofServing = 16 + 4 * ProcessInfo.processInfo.activeProcessorCount
    /// What the databases take while they are opened.
    static let ofStores = 16

    /// Makes sure that so many more can be opened: what waits for connections, events and signals ends the process without a word where it
    /// gets none.
    ///
    /// - Throws: `ConfigurationError` with what to do.
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
