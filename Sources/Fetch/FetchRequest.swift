/// What is asked of an origin: always a GET, with these fields and no others than HTTP itself demands.
public struct FetchRequest: Sendable {
    public var url: FetchURL
    public var headers: FetchHeaders
    public var limits: FetchLimits

    public init(_ url: FetchURL, headers: FetchHeaders = FetchHeaders(), limits: FetchLimits = FetchLimits()) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }
}
