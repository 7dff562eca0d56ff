import Glibc

/// Standard output and error, for people and for pipes.
enum Output {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func flush() {
        fflush(nil)
    }

    /// One line to standard error.
    static func complain(_ line: String) {
        write("\(line)\n")
    }

    /// To standard error, as it is.
    static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
