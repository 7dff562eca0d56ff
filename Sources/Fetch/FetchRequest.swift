/// What is asked of an origin: always a GET, with these fields and no others than HTTP itself demands.
public struct FetchRequest: Sendable {
    public var url: FetchURL
    public var headers: FetchHeaders
    /// Fields for the origin of ``url`` alone: a redirect to another scheme, host or port goes without them.
    public var credentials = FetchHeaders()
    /// Conditions for one URL alone: validators say nothing of any other, not even of one that redirects there.
    public var conditions: (url: FetchURL, fields: FetchHeaders)?
    /// Whether the body may come compressed. It is delivered decompressed, and ``FetchLimits/bodyBytes`` counts it as delivered: what
    /// a small body swells to is bounded by it too.
    public var acceptsCompression = false
    public var limits: FetchLimits

    public init(_ url: FetchURL, headers: FetchHeaders = FetchHeaders(), limits: FetchLimits = FetchLimits()) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }

    /// The fields that go to a hop.
    func fields(for hop: FetchURL) -> FetchHeaders {
        var fields = headers
        if let conditions, conditions.url == hop {
            for field in conditions.fields.fields { fields.append(field.name, field.value) }
        }
        guard hop.hasSameOrigin(as: url) else { return fields }
        for field in credentials.fields { fields.append(field.name, field.value) }
        return fields
    }
}
