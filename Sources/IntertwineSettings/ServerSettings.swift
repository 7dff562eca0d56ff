public import IntertwineDeclarations

/// The settings `server.*` of the service's listener.
public struct ServerSettings: Sendable {
    public var host = "127.0.0.1"
    public var port = 8080
    /// The base of absolute hrefs; empty for relative hrefs.
    public var publicURL = ""
    /// The networks of the proxies that may state the client's address and the viewer's name.
    public var trustedProxies = ["127.0.0.0/8", "::1"]
    /// The time for which the service's listener continues to serve after a stop, with `Connection: close`. `/readyz` is 503 in that time.
    public var shutdownDelay: Duration = .zero
    /// The time for which a graceful stop waits for responses in progress.
    public var shutdownTimeout: Duration = .seconds(10)
    public var limits = LimitSettings()

    public init() {}
}

/// The settings `limits.*`: resource limits of one client, counted in received bytes. The defaults are those of the threat model.
public struct LimitSettings: Sendable {
    public var maxRequestLine: ByteCount = .kibibytes(8)
    public var maxHeader: ByteCount = .kibibytes(16)
    public var headerFields = 100
    public var maxBody: ByteCount = .kibibytes(64)
    /// The maximum size of all request bodies in progress on a listener.
    public var totalBodyBytes: ByteCount = .mebibytes(64)
    public var maxChunkExtensions: ByteCount = .kibibytes(4)
    public var maxTrailers: ByteCount = .kibibytes(4)
    public var headerTimeout: Duration = .seconds(10)
    public var bodyTimeout: Duration = .seconds(30)
    /// The minimum rate of a request body in bytes per second, after the first five seconds.
    public var minBodyRate: ByteCount = 240
    public var keepAliveTimeout: Duration = .seconds(60)
    public var writeTimeout: Duration = .seconds(30)
    /// The minimum rate at which a client reads a response, in bytes per second, averaged over ``writeTimeout``.
    public var minWriteRate: ByteCount = 240
    public var requestTimeout: Duration = .seconds(10)
    public var requestsPerConnection = 1_000
    public var maxConnectionAge: Duration = .seconds(3_600)
    public var connections = 10_000
    public var connectionsPerPeer = 256
    /// The rate limit of an address in writes per minute, counted separately for actions, events and registrations of clients.
    public var writesPerAddress = 600
    /// The maximum number of recorded ad decisions per minute of one address; of IPv6, of one network (/64).
    public var decisionsPerAddress = 6_000
    public var writesPerViewer = 120
    /// The maximum number of rejected bearer tokens per minute of one address; of IPv6, of one network (/64). Further ones are not verified.
    public var rejectedTokensPerAddress = 600
    public var outputBuffer: ByteCount = .kibibytes(256)
    /// The maximum number of event stream subscribers.
    public var eventStreams = 10_000

    public init() {}
}

/// The settings `cors.*`: the pages of other origins that may call the service from a browser.
public struct CORSSettings: Sendable {
    /// Origins as browsers send them, such as `https://app.example.com`; or `*` alone.
    public var origins: [String] = []
    /// A Boolean value indicating whether requests of those pages may carry credentials such as cookies. It must be false with `*`.
    public var credentials = false
    /// The time for which browsers may cache the response to a preflight request.
    public var maxAge: Duration = .seconds(600)

    public init() {}
}

/// The settings `web-client.*` of the web client.
public struct WebClientSettings: Sendable {
    public var isEnabled = true

    public init() {}
}
