import Foundation
import Testing

@testable import IntertwinePrimitives

@Suite("Limits of control groups")
struct ControlGroupTests {
    /// A control group in a folder that stands for the root of the file system.
    private static func withGroup(_ membership: String, _ files: [String: String], _ body: (ControlGroup) -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, text) in [("proc/self/cgroup", membership)] + files.map({ ("sys/fs/cgroup/\($0)", "\($1)\n") }) {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        body(ControlGroup(root: root.path))
    }

    @Test(
        "The CPU limit is the lowest of the group and its parents, rounded up to whole processors",
        arguments: [
            ("0::/\n", ["cpu.max": "200000 100000"], 2), ("0::/\n", ["cpu.max": "150000 100000"], 2),
            ("0::/\n", ["cpu.max": "10000 100000"], 1), ("0::/\n", ["cpu.max": "max 100000"], nil), ("0::/\n", [:], nil),
            ("0::/a/b\n", ["cpu.max": "max 100000", "a/cpu.max": "300000 100000", "a/b/cpu.max": "800000 100000"], 3),
            ("4:cpu,cpuacct:/a\n", ["cpu/a/cpu.cfs_quota_us": "250000", "cpu/a/cpu.cfs_period_us": "100000"], 3),
            ("4:cpu:/\n", ["cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"], nil),
            ("0::/\n", ["cpu.max": "many 100000"], nil), ("0::/\n", ["cpu.max": "100000 0"], nil), ("no group\n", [:], nil),
        ] as [(String, [String: String], Int?)])
    func processors(membership: String, files: [String: String], limit: Int?) throws {
        try Self.withGroup(membership, files) { #expect($0.processorLimit == limit) }
    }

    @Test("The memory limit is absent without a control group")
    func noMemoryLimit() throws {
        try Self.withGroup("0::/\n", ["memory.max": "max"]) { #expect($0.memoryLimit == nil) }
        #expect(ControlGroup(root: "/nonexistent").memoryLimit == nil)
    }

    @Test("At least one processor is used, and at most those of the machine")
    func count() {
        #expect((1...ProcessInfo.processInfo.processorCount).contains(Processors.count))
    }
}
