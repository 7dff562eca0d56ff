/// How an answer came about, as RFC 9211 writes it.
public struct CacheStatus: Sendable, Hashable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case hit, stale, miss, revalidated, negative, bypass
    }

    public var outcome: Outcome
    /// The request found another one under way and was served by it.
    public var isCollapsed = false
    public var isStored = false
    /// The origin was asked because what is stored is stale, not because nothing is.
    public var wasStale = false
    /// The origin's status.
    public var forwardStatus: Int?
    /// Seconds; negative where stale.
    public var timeToLive: Int64?
    /// One of our own reason codes.
    public var detail: String?

    public init(_ outcome: Outcome) {
        self.outcome = outcome
    }

    /// The value of a `Cache-Status` field.
    public var field: String {
        var parts = ["Intertwine"]
        switch outcome {
        case .hit, .negative: parts.append("hit")
        case .stale: parts.append(contentsOf: forwardStatus == nil ? ["hit"] : ["fwd=stale"])
        case .revalidated: parts.append("fwd=stale")
        case .miss: parts.append(wasStale ? "fwd=stale" : "fwd=miss")
        case .bypass: parts.append("fwd=bypass")
        }
        if let forwardStatus { parts.append("fwd-status=\(forwardStatus)") }
        if isStored { parts.append("stored") }
        if isCollapsed { parts.append("collapsed") }
        if let timeToLive { parts.append("ttl=\(timeToLive)") }
        if let detail { parts.append("detail=\(detail)") }
        return parts.joined(separator: "; ")
    }
}
