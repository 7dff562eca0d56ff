internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// Reads a file that a person wrote, which may be a pipe or a device, once and as a whole. Never for longer than ``patience``: a pipe into which
/// nobody writes would hold its reader for ever.
package enum TextFile {
    /// Bytes. No file that a person writes comes near it.
    static let limit = 1 << 20
    private static let timeout = Duration.seconds(10)

    /// Why a file cannot be read, as the end of a sentence about it.
    package struct ReadError: Error {
        package let reason: String

        /// What the last call said.
        fileprivate static func unreadable() -> ReadError { ReadError(reason: "cannot be read: \(String(cString: strerror(errno)))") }
    }

    /// - Throws: ``Fault`` where the file cannot be read, says nothing for long, is too large, or not UTF-8.
    package static func text(at path: String) throws(ReadError) -> String {
        // Not waiting for whoever writes into a pipe.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw .unreadable() }
        defer { close(file) }
        let end = ContinuousClock.now + timeout
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            var wanted = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let left = end - ContinuousClock.now
            guard left > .zero, poll(&wanted, 1, Int32(clamping: left.milliseconds + 1)) != 0 else {
                throw ReadError(reason: "is a pipe that said too little in \(timeout.setting)")
            }
            let count = read(file, &piece, piece.count)
            if count == 0 { break }
            if count > 0 {
                bytes += piece.prefix(count)
            } else if errno != EAGAIN, errno != EINTR {
                throw .unreadable()
            }
        }
        guard bytes.count <= limit else { throw ReadError(reason: "is longer than \(limit) bytes") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ReadError(reason: "is not UTF-8") }
        return text
    }
}
