internal import Glibc

/// The limits of the process's control groups (cgroups(7), version 1 or 2), which a container runtime or systemd sets.
package struct ControlGroup {
    private static let sizeLimit = 64 << 10

    private let root: String

    package init(root: String = "") {
        self.root = root
    }

    /// The lowest memory limit in bytes of the process's group and of its parents; nil if no group has a limit.
    package var memoryLimit: Int? {
        (values(of: "memory.max") + values(of: "memory.limit_in_bytes", under: "memory")).compactMap { Int($0) }.min()
    }

    var processorLimit: Int? {
        let limits = values(of: "cpu.max").map { $0.split(separator: " ").compactMap { Int($0) } }
        let quotas = values(of: "cpu.cfs_quota_us", under: "cpu").map { Int($0) }
        let periods = values(of: "cpu.cfs_period_us", under: "cpu").map { Int($0) }
        let pairs = limits + zip(quotas, periods).map { [$0, $1].compactMap { $0 } }
        return pairs.compactMap { pair in
            // The quota is "max", or -1 in version 1, if there is no limit.
            guard pair.count == 2, pair[0] > 0, pair[1] > 0 else { return nil }
            let (processors, rest) = pair[0].quotientAndRemainder(dividingBy: pair[1])
            return rest > 0 ? processors + 1 : processors
        }.min()
    }

    private func values(of file: String, under controller: String? = nil) -> [String] {
        text("\(root)/proc/self/cgroup").split(separator: "\n").flatMap { line -> [String] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if let controller {
                guard fields[1].split(separator: ",").contains(Substring(controller)) else { return [] }
            } else {
                guard fields[1].isEmpty else { return [] }
            }
            let folder = "\(root)/sys/fs/cgroup" + (controller.map { "/\($0)" } ?? "")
            let parts = fields[2].split(separator: "/")
            return (0...parts.count).compactMap { depth in
                let path = ([folder] + parts.prefix(depth).map(String.init) + [file]).joined(separator: "/")
                return text(path).split(separator: "\n").first.map(String.init)
            }
        }
    }

    private func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < Self.sizeLimit {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

package enum Processors {
    /// More threads than the limit allows would exhaust it within a part of each period, and all of them would then wait.
    package static var count: Int {
        max(1, min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), ControlGroup().processorLimit ?? .max))
    }
}
