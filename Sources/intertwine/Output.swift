import Dispatch
import Foundation
import Glibc
import Synchronization

/// Standard output and standard error, for people and for pipes.
enum Output {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes all bytes to standard output.
    ///
    /// - Throws: ``ExitError`` if standard output accepts no more.
    static func put(_ bytes: some Sequence<UInt8>) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw ExitError("standard output cannot be written: \(error.localizedDescription)")
        }
    }

    /// Writes a line to standard output.
    static func say(_ line: String) throws {
        try put("\(line.shown)\n".utf8)
    }

    /// Writes a line to standard error.
    static func printError(_ line: String) {
        write("\(line.shown)\n")
    }

    /// The control sequence that erases the current line of the terminal.
    static let erasure = "\r\u{1B}[K"

    private static let isClosed = Mutex(false)

    /// Writes a text to standard error without changes.
    static func write(_ text: String) {
        isClosed.withLock { isClosed in
            if !isClosed { put(text) }
        }
    }

    /// Writes the last line to standard error. Later writes are ignored.
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
    /// The text as one safe line for a terminal: `?` replaces each control character and bidirectional control.
    ///
    /// Names and reasons come from third parties.
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

/// The error of a failed command: one line.
struct ExitError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A handler of signals that end the process: it erases the progress line, prints the outcome of the work, and stops further output.
///
/// The work needs no rollback: if the process ends before a commit, the store is unchanged.
///
/// `@unchecked Sendable`: the sources never change, and Dispatch allows their cancellation on any thread.
final class SignalHandler: @unchecked Sendable {
    private enum Outcome {
        /// The text about an interruption, and the function that reports it.
        case known(String, tell: @Sendable () -> Void)
        case unknown
        /// Another part of the process handles the signals.
        case released
    }

    private final class State: Sendable {
        let outcome: Mutex<Outcome>

        init(_ outcome: Outcome) {
            self.outcome = Mutex(outcome)
        }
    }

    private static let signals = [SIGINT, SIGTERM]

    private let state: State
    private let sources: [any DispatchSourceSignal]

    /// - Parameter outcome: The outcome of an interruption, such as "nothing was imported"; nil if it is unknown.
    init(_ outcome: String?) {
        let state = State(outcome.map { .known($0, tell: {}) } ?? .unknown)
        self.state = state
        // Before Dispatch handles a signal, its default action ends the process. An ignored signal would be lost.
        let isRegistered = DispatchSemaphore(value: 0)
        sources = Self.signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The lock is held until the process ends, so that a thread about to commit is blocked.
                state.outcome.withLock { outcome in
                    switch outcome {
                    case .known(let text, let tell):
                        Output.close(saying: "interrupted; \(text)")
                        tell()
                    case .unknown: Output.close(saying: "interrupted")
                    case .released: return
                    }
                    Self.endProcess(by: number)
                }
            }
            source.setRegistrationHandler { isRegistered.signal() }
            source.resume()
            return source
        }
        for _ in Self.signals { isRegistered.wait() }
    }

    /// Ends the process by the default action of a signal, so that a waiting parent sees the signal.
    ///
    /// The signal is sent to this thread. Dispatch reads signals of the process, even if their action is the default one.
    private static func endProcess(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }

    /// The function that sets the report of the interruption, if its outcome is known at that time. The report blocks until it is done.
    var notifying: @Sendable (_ tell: @escaping @Sendable () -> Void) -> Void {
        { [state] tell in
            state.outcome.withLock { outcome in
                if case .known(let text, _) = outcome { outcome = .known(text, tell: tell) }
            }
        }
    }

    /// The function that marks the begin of a commit. From there on, the outcome of an interruption is unknown.
    var committing: @Sendable () -> Void {
        { [state] in state.outcome.withLock { $0 = .unknown } }
    }

    /// Leaves the signals to other handlers, which are installed by then. Does not return if the handler is ending the process: an error that
    /// the interruption has caused is then not reported.
    func release() { state.outcome.withLock { $0 = .released } }

    /// Restores the default handling of signals. Does not return if the handler is ending the process, like ``release()``.
    func end() {
        release()
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}
