internal import CIntertwineLinux
internal import Glibc

/// A body that lies in a file, or in a part of one. It goes from there to the client (sendfile), and never through the memory of the process.
///
/// The event loop sends it, and would wait with all of its connections where the file had to be fetched from a disk: it is for files that
/// lie in memory.
public final class FileBody: Sendable {
    /// Unlike all other ways to send, this one raises a signal where the client is gone.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    /// Bytes.
    public let count: Int
    private let descriptor: Int32
    private let start: Int
    private let owner: any AnyObject & Sendable

    /// - Parameters:
    ///   - descriptor: of a file that is open for reading, and stays so for as long as the owner is there.
    ///   - start: where the body begins in the file.
    ///   - count: bytes. Where the file turns out to have fewer, the connection is broken off.
    ///   - owner: is kept for as long as anybody may be sent the body.
    public init(descriptor: Int32, from start: Int = 0, count: Int, owner: any AnyObject & Sendable) {
        _ = Self.ignoresBrokenPipes
        (self.descriptor, self.start, self.count, self.owner) = (descriptor, max(0, start), max(0, count), owner)
    }

    /// All of it, as far as the file has it.
    var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let more = pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(start + filled))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                filled += more
            }
        }
    }

    /// Sends a part. Bytes taken, 0 where there is no room, -1 where the connection is broken or the file too short.
    func send(_ part: Range<Int>, to socket: Int32) -> Int {
        let sent = clinux_send_file(socket, descriptor, Int64(start + part.lowerBound), part.count)
        if sent > 0 { return sent }
        return sent == -Int(EAGAIN) ? 0 : -1
    }
}

/// What the bytes of a body lie in.
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
