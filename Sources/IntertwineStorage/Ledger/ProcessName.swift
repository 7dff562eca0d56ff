import Foundation

/// Names this process among those that share a ledger, so that another one of the same system can tell that it is gone, however it ended.
package enum ProcessName {
    package static func make() -> String {
        let name = UUID().uuidString
        guard let system, let start = start(of: getpid()) else { return name }
        return "\(name)@\(system)/\(getpid())/\(start)"
    }

    /// Whether there is no such process any more; false where that cannot be known, as of one in another container.
    static func isGone(_ name: String) -> Bool {
        let parts = name.split(separator: "@").last?.split(separator: "/") ?? []
        guard parts.count == 4, let system, "\(parts[0])/\(parts[1])" == system, let process = pid_t(parts[2]) else { return false }
        return start(of: process) != String(parts[3])
    }

    /// The boot of the machine, and the numbers of processes within it.
    private static let system: String? = {
        let boot = text("/proc/sys/kernel/random/boot_id").prefix { $0 != "\n" }
        guard !boot.isEmpty, let numbers = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid") else {
            return nil
        }
        return "\(boot)/\(numbers)"
    }()

    /// When a process started; nil where there is none. One that has ended and that nobody has waited for is none.
    private static func start(of process: pid_t) -> String? {
        // The name in the second field may hold anything, the fields behind its parenthesis do not: the third, the state, is the first of them.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return String(fields[19])
    }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
