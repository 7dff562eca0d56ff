import Foundation
import Glibc
import Synchronization

/// Standard output and error, for people and for pipes.
enum Output {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// To standard output, all of it.
    ///
    /// - Throws: ``Refusal`` where standard output takes no more.
    static func put(_ bytes: some Sequence<UInt8>) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw Refusal("standard output cannot be written: \(error.localizedDescription)")
        }
    }

    /// A line to standard output.
    static func say(_ line: String) throws {
        try put("\(line)\n".utf8)
    }

    /// One line to standard error.
    static func complain(_ line: String) {
        write("\(line)\n")
    }

    /// Takes the line that is being drawn away again.
    static let erasure = "\r\u{1B}[K"

    private static let isClosed = Mutex(false)

    /// To standard error, as it is.
    static func write(_ text: String) {
        isClosed.withLock { isClosed in
            if !isClosed { put(text) }
        }
    }

    /// The last line to standard error: nothing is written to it any more.
    static func close(saying line: String) {
        isClosed.withLock { isClosed in
            put((isTerminal ? erasure : "") + line + "\n")
            isClosed = true
        }
    }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
