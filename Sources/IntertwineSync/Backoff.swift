/// How long to wait after a failure: twice as long each time, up to a bound, and never the same for everybody.
public struct Backoff: Sendable, Hashable {
    /// After the first failure, at most.
    public var first: Duration
    public var longest: Duration

    /// - Parameter interval: how often the source is asked while all is well; failures never make it be asked more than ten times as often.
    public init(interval: Duration) {
        first = max(.milliseconds(100), min(.seconds(10), interval))
        longest = max(.seconds(3_600), interval)
    }

    /// - Parameters:
    ///   - failures: in a row, at least 1.
    ///   - requested: what the origin asked for, which holds for up to a day.
    ///   - chance: from 0 to 1.
    public func delay(after failures: Int, requested: Duration? = nil, chance: Double) -> Duration {
        let doubled = first * (1 << min(max(failures, 1) - 1, 20))
        let bounded = min(doubled, longest)
        // Half of it is certain, half is chance: those who failed together do not come back together.
        let drawn = bounded * (0.5 + 0.5 * min(max(chance, 0), 1))
        return max(drawn, min(requested ?? .zero, .seconds(86_400)))
    }
}
