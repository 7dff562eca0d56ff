internal import Foundation
internal import Glibc

enum FileDescriptors {
    static let ofServing = 16 + 4 * ProcessInfo.processInfo.activeProcessorCount
    static let ofStores = 16

    /// Why: without a descriptor, the waiting calls for connections, events and signals end the process without a message.
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
