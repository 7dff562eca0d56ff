import IntertwineStorage
import IntertwineSync
import Synchronization

/// Shows how far a synchronisation is: first what has been read, of which nobody knows how much it will be, then a bar.
final class SyncProgress: Sendable {
    private struct State {
        var reading: ProgressLine
        var applying: ProgressLine?
    }

    private let isTerminal: Bool
    private let state: Mutex<State>

    init(isTerminal: Bool) {
        self.isTerminal = isTerminal
        state = Mutex(State(reading: ProgressLine(total: nil, isTerminal: isTerminal)))
    }

    func show(_ progress: SourceProgress) {
        let text = state.withLock { state -> String? in
            var summary = ImportSummary()
            switch progress.phase {
            case .reading, .verifying:
                (summary.bytes, summary.added, summary.skipped) = (progress.bytes, progress.items, progress.skipped)
                return state.reading.text(for: summary)
            case .applying(let done):
                // The bar is of items here.
                (summary.bytes, summary.added) = (done, done)
                var line = state.applying ?? ProgressLine(total: progress.items, isTerminal: isTerminal)
                defer { state.applying = line }
                return line.text(for: summary)
            }
        }
        if let text { Output.write(text) }
    }

    /// What takes the bar away again.
    var end: String { state.withLock { $0.reading.end } }
}
