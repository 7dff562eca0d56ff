internal import Foundation

/// What tells that a file is another one than before.
struct FileStamp: Equatable {
    private let number: UInt64?
    private let size: UInt64?
    private let changed: Date?

    /// Nil where there is no file.
    init?(path: String) {
        // Links are followed, as a mounted configuration is often one.
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: real) else { return nil }
        number = attributes[.systemFileNumber] as? UInt64
        size = attributes[.size] as? UInt64
        changed = attributes[.modificationDate] as? Date
    }
}
