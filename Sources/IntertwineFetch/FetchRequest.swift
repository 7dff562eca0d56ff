/// What is asked of an origin: always a GET, with these fields and no others than HTTP itself demands.
public struct FetchRequest: Sendable {
    public var url: FetchURL
    public var headers: FetchHeaderFields
    /// Fields for the origin of ``url`` alone: a redirect to another scheme, host or port goes without them.
    public var credentials = FetchHeaderFields()
    /// Conditions for one URL alone: validators say nothing of any other, not even of one that redirects there.
    public var conditions: (url: FetchURL, fields: FetchHeaderFields)?
    /// Whether the body may come compressed. It is delivered decompressed, and ``FetchLimits/bodyBytes`` counts it as delivered: what
    /// a small body swells to is bounded by it too.
    public var acceptsCompression = false
    public var limits: FetchLimits

    public init(_ url: FetchURL, headers: FetchHeaderFields = FetchHeaderFields(), limits: FetchLimits = FetchLimits()) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }

    /// The fields that go to a hop.
    func fields(for hop: FetchURL) -> FetchHeaderFields {
        var fields = headers
        if let conditions, conditions.url == hop {
            for field in conditions.fields.fields { fields.append(field.name, field.value) }
        }
        guard hop.hasSameOrigin(as: url) else { return fields }
        for field in credentials.fields { fields.append(field.name, field.value) }
        return fields
    }
}

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
    /// Bytes around the content of a body in chunks, beyond eight for each byte of content.
    public var framingBytes = 64 * 1_024
    public var redirects = 3
    /// Bytes that the kernel may hold for us unread: what is lost at most when a fetch is paused and then given up.
    public var receiveWindow = 64 * 1_024

    public init() {}
}
