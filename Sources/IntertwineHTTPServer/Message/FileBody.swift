internal import CIntertwineLinux
internal import Glibc
internal import IntertwinePrimitives

/// The kernel sends it directly (`sendfile`), without copying it through the process.
/// The event loop sends it and blocks all of its connections if the file must be read from a disk.
package final class FileBody: Sendable {
    /// `sendfile` raises SIGPIPE if the client has disconnected, unlike all other ways of sending, so the signal is ignored.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    package let count: Int
    private let descriptor: Int32
    private let start: Int
    private let owner: any AnyObject & Sendable

    package init(descriptor: Int32, from start: Int = 0, count: Int, owner: any AnyObject & Sendable) {
        _ = Self.ignoresBrokenPipes
        (self.descriptor, self.start, self.count, self.owner) = (descriptor, max(0, start), max(0, count), owner)
    }

    var bytes: [UInt8] { FileIO.read(descriptor, count, at: start) }

    func send(_ part: Range<Int>, to socket: Int32) -> Int {
        let sent = clinux_send_file(socket, descriptor, Int64(start + part.lowerBound), part.count)
        if sent > 0 { return sent }
        return sent == -Int(EAGAIN) ? 0 : -1
    }
}

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
