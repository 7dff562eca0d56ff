import Foundation
import IntertwineDeclarations
import IntertwineSettings
import Testing

@testable import IntertwineService

@Suite("Size of the cell cache")
struct CellCacheSizeTests {
    @Test(
        "The cell cache size is one sixteenth of the lowest cgroup memory limit, within bounds",
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
        #expect(CellCacheSize.automatic.bytes(root: root.path) == mebibytes << 20)
        #expect(CellCacheSize.bytes(.mebibytes(5)).bytes(root: root.path) == 5 << 20)
        #expect((32 << 20...1 << 30).contains(CellCacheSize.automatic.bytes()))
    }

    @Test("A size is automatic or a number of bytes")
    func texts() {
        for text in ["auto", "0", "3MiB"] { #expect(CellCacheSize(setting: text)?.setting == text) }
        for text in ["", "Auto", "-1", "10%"] { #expect(CellCacheSize(setting: text) == nil) }
    }
}
