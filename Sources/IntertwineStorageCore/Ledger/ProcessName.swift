import Foundation

package enum ProcessName {
    package static func make() -> String {
        let name = UUID().uuidString
        guard let system, let start = start(of: getpid()) else { return name }
        return "\(name)@\(system)/\(getpid())/\(start)"
    }

    package static func hasEnded(_ name: String) -> Bool {
        let parts = name.split(separator: "@").last?.split(separator: "/") ?? []
        guard parts.count == 4, let system, "\(parts[0])/\(parts[1])" == system, let process = pid_t(parts[2]) else { return false }
        return start(of: process) != String(parts[3])
    }

    private static let system: String? = {
        let boot = text("/proc/sys/kernel/random/boot_id").prefix { $0 != "\n" }
        guard !boot.isEmpty, let numbers = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid") else {
            return nil
        }
        return "\(boot)/\(numbers)"
    }()

    private static func start(of process: pid_t) -> String? {
        // The name in the second field can contain any characters. Fields are split after its closing parenthesis: the first is the state.
        let fields = text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return String(fields[19])
    }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
