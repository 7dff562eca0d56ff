internal import Glibc
internal import IntertwinePrimitives

/// A reader of text files, including pipes and devices, which reads once and as a whole, with a time limit. Why: a pipe without a writer
/// would block its reader for ever.
enum TextFile {
    static let limit = 1 << 20
    private static let timeout = Duration.seconds(10)

    /// Why a file cannot be read, as the end of a sentence about it.
    struct ReadError: Error {
        let reason: String

        fileprivate static func unreadable() -> ReadError { ReadError(reason: "cannot be read: \(String(cString: strerror(errno)))") }
    }

    static func text(at path: String) throws(ReadError) -> String {
        // The call does not wait for the writer of a pipe.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw ReadError(reason: "cannot be read: \(OwnedFile.reason(path))") }
        defer { close(file) }
        let end = ContinuousClock.now + timeout
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            var wanted = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let left = end - ContinuousClock.now
            guard left > .zero, poll(&wanted, 1, Int32(clamping: left.milliseconds + 1)) != 0 else {
                throw ReadError(reason: "is a pipe that did not end within \(timeout.setting)")
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
