import Dispatch
import Foundation
import Glibc
import Synchronization

/// Standard output and error, for people and for pipes.
enum Output {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// To standard output, all of it.
    ///
    /// - Throws: ``ExitError`` where standard output takes no more.
    static func put(_ bytes: some Sequence<UInt8>) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw ExitError("standard output cannot be written: \(error.localizedDescription)")
        }
    }

    /// A line to standard output.
    static func say(_ line: String) throws {
        try put("\(line.shown)\n".utf8)
    }

    /// One line to standard error.
    static func printError(_ line: String) {
        write("\(line.shown)\n")
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

extension String {
    /// The text as a terminal may be given it, on one line: `?` stands for each character that would do something there, such as a control
    /// or a mark that turns the direction of the text. Names and reasons come from third parties.
    var shown: String {
        guard unicodeScalars.contains(where: \.isActive) else { return self }
        var text = ""
        for scalar in unicodeScalars { text.unicodeScalars.append(scalar.isActive ? "?" : scalar) }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var isActive: Bool {
        guard value >= 0x7F else { return value < 0x20 }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

/// Why the command did not do what it was asked to: one line.
struct ExitError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Has a signal that ends the process leave the terminal tidy: the half-drawn bar is taken away, one line says what became of the work, and
/// nothing is drawn after it.
///
/// Nothing has to be taken back here: whatever ends the process before a commit leaves the store as it was.
final class SignalHandler {
    private final class Outcome: Sendable {
        /// Nil once nobody can say what becomes of the work.
        let known: Mutex<(text: String, tell: @Sendable () -> Void)?>

        init(_ text: String?) {
            known = Mutex(text.map { ($0, {}) })
        }
    }

    private static let signals = [SIGINT, SIGTERM]

    private let outcome: Outcome
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter outcome: what becomes of the work where it is interrupted, such as "nothing was imported"; nil where nobody can say.
    init(_ outcome: String?) {
        let outcome = Outcome(outcome)
        self.outcome = outcome
        for number in Self.signals {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // Whoever would make the work final waits behind the lock for the end.
                outcome.known.withLock { known in
                    Output.close(saying: "interrupted" + (known.map { "; \($0.text)" } ?? ""))
                    known?.tell()
                    // As if it had not been heeded: whoever waits for the process sees what ended it.
                    signal(number, SIG_DFL)
                    kill(getpid(), number)
                    while true { pause() }
                }
            }
            source.resume()
            sources.append(source)
        }
    }

    /// Has the end be told elsewhere too, as far as it is known by then what becomes of the work.
    ///
    /// - Parameter tell: blocks until that is done.
    func notifying(_ tell: @escaping @Sendable () -> Void) {
        outcome.known.withLock { $0?.tell = tell }
    }

    /// The work is about to be made final: from here on nobody can say what becomes of it.
    func committing() {
        outcome.known.withLock { $0 = nil }
    }

    /// Leaves signals alone again.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
        sources = []
    }
}
