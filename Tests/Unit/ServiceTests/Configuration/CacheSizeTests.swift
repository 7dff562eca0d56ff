import Foundation
import Testing

@testable import IntertwineService

@Suite("Size of a cache")
struct CacheSizeTests {
    @Test(
        "An automatic size is a share of the lowest cgroup memory limit, within bounds",
        arguments: [
            ("0::/\n", ["memory.max": "2147483648"], 128), ("0::/\n", ["memory.max": "268435456"], 32),
            ("0::/a/b\n", ["memory.max": "max", "a/memory.max": "1073741824", "a/b/memory.max": "4294967296"], 64),
            (
                "5:memory:/a\n0::/\n",
                ["memory/memory.limit_in_bytes": "9223372036854771712", "memory/a/memory.limit_in_bytes": "1610612736"], 96
            ),
            ("5:cpu,memory:/elsewhere\n", ["memory/memory.limit_in_bytes": "1073741824"], 64),
        ])
    func cellMemory(group: String, limits: [String: String], mebibytes: Int) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: root) }
        for (path, text) in [("proc/self/cgroup", group)] + limits.map({ ("sys/fs/cgroup/\($0)", "\($1)\n") }) {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let range = 32 << 20...1 << 30
        #expect(CacheSize.automatic.bytes(of: 16, in: range, root: root.path) == mebibytes << 20)
        #expect(CacheSize.bytes(.mebibytes(5)).bytes(of: 16, in: range, root: root.path) == 5 << 20)
        #expect(CacheSize.automatic.bytes(of: 1 << 40, in: range) == 32 << 20 && CacheSize.automatic.bytes(of: 1, in: 0...7) == 7)
    }

    @Test("A size is automatic or a number of bytes")
    func texts() {
        for text in ["auto", "0", "3MiB"] { #expect(CacheSize(setting: text)?.setting == text) }
        for text in ["", "Auto", "-1", "10%"] { #expect(CacheSize(setting: text) == nil) }
    }
}
