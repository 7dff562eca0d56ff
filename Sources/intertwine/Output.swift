import Dispatch
import Foundation
import Glibc
import IntertwineService
import Synchronization

enum Output {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func put(_ bytes: some Sequence<UInt8>) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw ExitError("standard output cannot be written: \(error.localizedDescription)")
        }
    }

    static func say(_ line: String) throws {
        try put("\(line.shown)\n".utf8)
    }

    static func printError(_ line: String) {
        write("\(line.shown)\n")
    }

    static let erasure = "\r\u{1B}[K"

    private static let isClosed = Mutex(false)

    static func write(_ text: String) {
        isClosed.withLock { isClosed in
            if !isClosed { put(text) }
        }
    }

    static func close(saying line: String) {
        isClosed.withLock { isClosed in
            put((isTerminal ? erasure : "") + line + "\n")
            isClosed = true
        }
    }

    /// One line for each row. The first column is aligned to the left, others to the right.
    static func table(_ texts: [[String]]) -> String {
        let rows = texts.map { $0.map(\.shown) }
        guard let columns = rows.first?.indices else { return "" }
        let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = columns.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension String {
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

struct ExitError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// `@unchecked Sendable`: the sources never change, and Dispatch allows their cancellation on any thread.
final class SignalHandler: @unchecked Sendable {
    private enum Outcome {
        case known(String, tell: @Sendable () -> Void)
        case unknown
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
    /// Dispatch reads signals of the process, even if their action is the default one.
    private static func endProcess(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }

    var beginning: InterruptibleBegin {
        { [state] begin in
            try state.outcome.withLock { outcome in
                let tell = try begin()
                guard case .known(let text, let others) = outcome else { return }
                outcome = .known(text) {
                    tell()
                    others()
                }
            }
        }
    }

    var committing: @Sendable () -> Void {
        { [state] in state.outcome.withLock { $0 = .unknown } }
    }

    func release() { state.outcome.withLock { $0 = .released } }

    func end() {
        release()
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }
}
