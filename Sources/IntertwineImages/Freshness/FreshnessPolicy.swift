public import IntertwineFetch

/// The bounds within which origins decide how long their pictures are kept. All in seconds.
public struct FreshnessPolicy: Sendable, Hashable {
    /// Whatever an origin says, short of forbidding storage or use without asking; zero to take each at its word.
    public var shortest: Int64 = 300
    public var longest: Int64 = 30 * 86_400
    /// Where an origin says nothing and gives no date of change.
    public var silent: Int64 = 86_400
    /// The longest lifetime guessed from a date of change.
    public var heuristic: Int64 = 86_400
    /// Where an origin says nothing about stale use, how long it is permitted all the same.
    public var staleWhileRevalidate: Int64 = 0
    public var staleIfError: Int64 = 0

    public init() {}
}

/// The bounds for the pictures of certain hosts.
public struct HostFreshness: Sendable, Hashable {
    public var host: HostPattern
    public var policy: FreshnessPolicy

    public init(_ host: HostPattern, _ policy: FreshnessPolicy) {
        self.host = host
        self.policy = policy
    }
}
