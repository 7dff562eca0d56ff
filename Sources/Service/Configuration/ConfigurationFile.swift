internal import Foundation

/// The bytes of a configuration file. It may be a pipe or a device, and is read once.
enum ConfigurationFile {
    /// Bytes. No file that a person writes comes near it.
    static let limit = 1 << 20

    /// - Throws: ``ConfigurationError`` where the file cannot be read or is too long.
    static func bytes(at path: String) throws(ConfigurationError) -> [UInt8] {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var bytes: [UInt8] = []
            while bytes.count <= limit, let piece = try file.read(upToCount: limit + 1 - bytes.count), !piece.isEmpty { bytes += piece }
            guard bytes.count > limit else { return bytes }
        } catch {
            throw ConfigurationError("\(path): the configuration file cannot be read")
        }
        throw ConfigurationError("\(path): the configuration file is longer than \(limit) bytes")
    }
}
