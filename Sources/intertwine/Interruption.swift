import Dispatch
import Glibc
import Synchronization

/// Has a signal that ends the process leave the terminal tidy: the half-drawn bar is taken away, one line says what became of the work, and
/// nothing is drawn after it.
///
/// Nothing has to be taken back here: whatever ends the process before a commit leaves the store as it was.
final class Interruption {
    private final class Outcome: Sendable {
        let text: Mutex<String>

        init(_ text: String) {
            self.text = Mutex(text)
        }
    }

    private static let signals = [SIGINT, SIGTERM]

    private let outcome: Outcome
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter outcome: what becomes of the work where it is interrupted, such as "nothing was imported".
    init(_ outcome: String) {
        let outcome = Outcome(outcome)
        self.outcome = outcome
        for number in Self.signals {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                Output.close(saying: "interrupted" + outcome.text.withLock { $0.isEmpty ? "" : "; \($0)" })
                // As if it had not been heeded: whoever waits for the process sees what ended it.
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
            source.resume()
            sources.append(source)
        }
    }

    /// The work is about to be made final: from here on nobody can say what becomes of it.
    func committing() {
        outcome.text.withLock { $0 = "" }
    }

    /// Leaves signals alone again.
    func end() {
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
        sources = []
    }
}
