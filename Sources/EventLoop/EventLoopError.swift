internal import Glibc

/// A call to the kernel that failed.
public struct EventLoopError: Error, Hashable, CustomStringConvertible {
    /// What was tried, as the kernel names it.
    public let operation: String
    /// The kernel's error number.
    public let errno: Int32

    init(_ operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno
    }

    public var description: String { "\(operation): \(String(cString: strerror(errno)))" }
}
