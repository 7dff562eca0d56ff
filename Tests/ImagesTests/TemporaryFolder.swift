import Foundation

/// A folder that goes with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("images-\(UUID())").path
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// All the files below it.
    var files: [URL] {
        let all = FileManager.default.enumerator(at: URL(fileURLWithPath: path), includingPropertiesForKeys: nil)
        return (all?.compactMap { $0 as? URL } ?? []).filter { !$0.hasDirectoryPath && (try? Data(contentsOf: $0)) != nil }
    }

    /// What the files take on disk, in whole blocks.
    var allocatedBytes: Int {
        files.reduce(0) { sum, file in
            let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
            return sum + (size + 4_095) / 4_096 * 4_096
        }
    }
}
