/// What one fetch may cost. All durations count from the moment the fetch starts its part; ``total`` counts from the start.
public struct FetchLimits: Sendable, Hashable {
    public var resolve: Duration = .seconds(2)
    /// Connecting, with the TLS handshake.
    public var connect: Duration = .seconds(3)
    /// From the request on the wire to the end of the answer's head.
    public var head: Duration = .seconds(5)
    /// Everything: names, hops, body.
    public var total: Duration = .seconds(12)
    /// A body that stays below this many bytes a second for ``slowSeconds`` is given up.
    public var slowBytesPerSecond = 2_048
    public var slowSeconds = 4
    /// Bytes of the answer's head, of all hops' interim heads too.
    public var headBytes = 64 * 1_024
    public var headLines = 256
    /// Bytes of the body, counted as they come.
    public var bodyBytes = 8 * 1_024 * 1_024
    public var redirects = 3
    /// Bytes that the kernel may hold for us unread: what is lost at most when a fetch is paused and then given up.
    public var receiveWindow = 64 * 1_024

    public init() {}
}
