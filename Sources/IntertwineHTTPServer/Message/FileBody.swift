internal import CIntertwineLinux
internal import Glibc
internal import IntertwinePrimitives

/// A response body in a file or in a part of one. The kernel sends it directly (`sendfile`), without copying it through the process.
///
/// The event loop sends it and blocks all of its connections if the file must be read from a disk. Use it only for files in memory.
package final class FileBody: Sendable {
    /// `sendfile` raises SIGPIPE if the client has disconnected, unlike all other ways of sending, so the signal is ignored.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// The number of bytes.
    package let count: Int
    private let descriptor: Int32
    private let start: Int
    private let owner: any AnyObject & Sendable

    /// Creates a body from an open file.
    ///
    /// ```swift
    /// let file = FileBody(descriptor: descriptor, from: 512, count: 1_024, owner: owner)
    /// let response = ServerResponse(status: .ok, fields: [.contentType: "image/jpeg"], file: file)
    /// ```
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of a file that stays open for reading during the lifetime of the owner.
    ///   - start: The offset of the body in the file.
    ///   - count: The number of bytes. If the file has fewer, the connection is closed before the end.
    ///   - owner: An object that is retained as long as the body may be sent.
    package init(descriptor: Int32, from start: Int = 0, count: Int, owner: any AnyObject & Sendable) {
        _ = Self.ignoresBrokenPipes
        (self.descriptor, self.start, self.count, self.owner) = (descriptor, max(0, start), max(0, count), owner)
    }

    /// The bytes of the body, up to the end of the file.
    var bytes: [UInt8] { FileIO.read(descriptor, count, at: start) }

    /// Sends a part. Returns the bytes sent, 0 if the kernel's buffer is full, -1 if the connection is broken or the file is too short.
    func send(_ part: Range<Int>, to socket: Int32) -> Int {
        let sent = clinux_send_file(socket, descriptor, Int64(start + part.lowerBound), part.count)
        if sent > 0 { return sent }
        return sent == -Int(EAGAIN) ? 0 : -1
    }
}

/// The storage of a body's bytes.
enum ResponseBody: Sendable {
    case bytes([UInt8])
    case file(FileBody)

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        }
    }
}
