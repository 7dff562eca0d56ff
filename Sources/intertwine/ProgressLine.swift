import IntertwineService
import IntertwineStorage
import Synchronization

/// The progress of an import: a bar that is redrawn on a terminal, periodic plain lines elsewhere.
struct ProgressLine {
    private static let width = 24

    /// The total size of all files in bytes; nil if one of them is a pipe.
    let total: Int?
    let isTerminal: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant

    init(total: Int?, isTerminal: Bool) {
        self.total = total
        self.isTerminal = isTerminal
        start = clock.now
        last = start
    }

    mutating func text(for summary: ImportSummary) -> String? {
        let now = clock.now
        guard now - last >= (isTerminal ? .milliseconds(100) : .seconds(5)) else { return nil }
        last = now
        let line = Self.line(for: summary, total: total, after: (now - start) / .seconds(1))
        return isTerminal ? "\r\(line)\u{1B}[K" : "\(line)\n"
    }

    var end: String { isTerminal ? Output.erasure : "" }

    private static func line(for summary: ImportSummary, total: Int?, after seconds: Double) -> String {
        let rate = seconds > 0 ? Double(summary.items) / seconds : 0
        let done = "\(summary.items) items, \(Int(rate))/s"
        guard let total, total > 0, summary.bytes > 0 else { return "\(done), \(summary.bytes >> 20) MiB" }
        let share = min(1, Double(summary.bytes) / Double(total))
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "[\(bar)] \(Int(share * 100))% \(done), \(remaining(seconds * (1 - share) / share)) left"
    }

    private static func remaining(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds.rounded(.up), 0), 359_999))
        let (minutes, rest) = whole.quotientAndRemainder(dividingBy: 60)
        return minutes == 0 ? "\(rest) s" : "\(minutes) min \(rest) s"
    }
}

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
            case .reading:
                (summary.bytes, summary.added, summary.skipped) = (progress.bytes, progress.items, progress.skipped)
                return state.reading.text(for: summary)
            case .applying(let done):
                // The bar counts items.
                (summary.bytes, summary.added) = (done, done)
                var line = state.applying ?? ProgressLine(total: progress.items, isTerminal: isTerminal)
                defer { state.applying = line }
                return line.text(for: summary)
            }
        }
        if let text { Output.write(text) }
    }

    var end: String { state.withLock { $0.reading.end } }
}
