internal import Glibc

/// The folder of the disk cache cannot be used.
public struct DiskCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: String
    /// The system's error number.
    public let errno: Int32

    public var description: String { "\(path): \(String(cString: strerror(errno)))" }
}
