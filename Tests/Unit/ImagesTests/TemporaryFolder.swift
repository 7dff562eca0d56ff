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
        let folder = URL(fileURLWithPath: path)
        let all = FileManager.default.enumerator(atPath: path)?.compactMap { ($0 as? String).map { folder.appendingPathComponent($0) } }
        return (all ?? []).filter { !$0.hasDirectoryPath && attribute(.type, of: $0) == FileAttributeType.typeRegular }
    }

    private func attribute<Value>(_ key: FileAttributeKey, of file: URL) -> Value? {
        (try? FileManager.default.attributesOfItem(atPath: file.path))?[key] as? Value
    }

    /// What the files take on disk, in whole blocks.
    var allocatedBytes: Int {
        files.reduce(0) { sum, file in
            let size: Int = attribute(.size, of: file) ?? 0
            return sum + (size + 4_095) / 4_096 * 4_096
        }
    }
}
