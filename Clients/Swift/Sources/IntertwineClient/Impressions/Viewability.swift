import Foundation

/// When a cell counts as seen: so much of it in sight, for so long without a pause.
public struct Viewability: Sendable, Hashable {
    /// Of 0 to 1.
    public var share: Double
    public var seconds: Double

    /// What an impression action says of it; half of the cell for a second, where it says nothing.
    public init(_ action: Action? = nil) {
        let told = action?.members["viewable"]
        share = min(1, max(0.01, told?["share"]?.number ?? 0.5))
        seconds = min(3600, max(0, told?["seconds"]?.number ?? 1))
    }
}

/// Tells which cells have been in sight for long enough. Pure: whoever owns it has the clock and the screen.
struct ViewabilityMeter {
    private struct Sight {
        let began: Double
        let seconds: Double
    }

    private var sights: [String: Sight] = [:]

    /// When the next one of those in sight is ripe.
    var nextRipe: Double? { sights.values.map { $0.began + $0.seconds }.min() }

    /// Says what is in sight from now on: of each key how much, and what it takes. What is not named is out of sight.
    mutating func see(_ shares: [String: (share: Double, needs: Viewability)], at now: Double) {
        sights = sights.filter { key, _ in shares[key].map { $0.share >= $0.needs.share } ?? false }
        for (key, sight) in shares where sight.share >= sight.needs.share && sights[key] == nil {
            sights[key] = Sight(began: now, seconds: sight.needs.seconds)
        }
    }

    /// Those that are ripe by now, each once.
    mutating func takeRipe(at now: Double) -> [String] {
        let ripe = sights.filter { $0.value.began + $0.value.seconds <= now }.map(\.key).sorted()
        for key in ripe { sights[key] = nil }
        return ripe
    }
}
