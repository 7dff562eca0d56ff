import Foundation

/// The viewability threshold of a cell: the visible fraction, and the uninterrupted time in seconds.
public struct Viewability: Sendable, Hashable {
    /// The visible fraction of the cell, from 0 to 1.
    public var share: Double
    /// The uninterrupted time for which the fraction must be visible.
    public var seconds: Double

    /// Reads the threshold of an impression action; the default is half of the cell for one second.
    ///
    /// ```swift
    /// let threshold = Viewability(cell.actions[.impression])
    /// let isVisible = share >= threshold.share
    /// ```
    public init(_ action: CellAction? = nil) {
        let threshold = action?.members["viewable"]
        share = min(1, max(0.01, threshold?["share"]?.number ?? 0.5))
        seconds = min(3600, max(0, threshold?["seconds"]?.number ?? 1))
    }
}

/// A meter that detects cells that have been visible long enough. It has no clock of its own and does no I/O.
struct ViewabilityMeter {
    private struct Sighting {
        let startedAt: Double
        let seconds: Double
    }

    private var sights: [String: Sighting] = [:]

    /// The time at which the next visible cell reaches its threshold.
    var nextDeadline: Double? { sights.values.map { $0.startedAt + $0.seconds }.min() }

    /// Sets the visible fraction and the threshold of each key. All other keys are invisible from now on.
    mutating func update(_ shares: [String: (share: Double, needs: Viewability)], at now: Double) {
        sights = sights.filter { key, _ in shares[key].map { $0.share >= $0.needs.share } ?? false }
        for (key, sight) in shares where sight.share >= sight.needs.share && sights[key] == nil {
            sights[key] = Sighting(startedAt: now, seconds: sight.needs.seconds)
        }
    }

    /// Returns the keys that have reached their threshold, each once.
    mutating func takeCompleted(at now: Double) -> [String] {
        let completed = sights.filter { $0.value.startedAt + $0.value.seconds <= now }.map(\.key).sorted()
        for key in completed { sights[key] = nil }
        return completed
    }
}
