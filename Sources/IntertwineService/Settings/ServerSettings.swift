/// The settings `server.*` of the service's listener.
///
/// ```swift
/// var server = ServerSettings()
/// server.host = "0.0.0.0"
/// server.port = 8443
/// server.trustedProxies = ["10.1.0.0/16"]
/// server.limits.maxBody = .mebibytes(1)
/// ```
public struct ServerSettings: Sendable {
    /// The IP address of the listener (`server.host`); `0.0.0.0` or `::` for all interfaces. The default is `127.0.0.1`.
    public var host = "127.0.0.1"
    /// The TCP port of the listener (`server.port`), from 0 to 65 535; 0 for a free port. The default is 8080.
    public var port = 8080
    /// The base of absolute hrefs (`server.public-url`), such as `https://feed.example.com`. The default is empty, for relative hrefs.
    public var publicURL = ""
    /// The networks of the proxies that may state the client's address and the viewer's name (`server.trusted-proxies`), in CIDR notation.
    ///
    /// The default is the loopback addresses.
    public var trustedProxies = ["127.0.0.0/8", "::1"]
    /// The field `User-Agent` of the service's own requests (`server.user-agent`): to sources, origins of images, trackers and key sets.
    public var userAgent = "Intertwine (+https://intertwine.example/)"
    /// The time for which the listener continues to serve after a stop, with `Connection: close` (`server.shutdown-delay`).
    ///
    /// `/readyz` is 503 in that time. The default is zero.
    public var shutdownDelay: Duration = .zero
    /// The time for which a graceful stop waits for responses in progress (`server.shutdown-timeout`). The default is 10 s.
    public var shutdownTimeout: Duration = .seconds(10)
    /// The resource limits of one client: the settings `limits.*`.
    public var limits = LimitSettings()

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `limits.*`: resource limits of one client, counted in received bytes. The defaults are those of the threat model.
///
/// ```swift
/// var limits = LimitSettings()
/// limits.connections = 50_000
/// limits.requestTimeout = .seconds(5)
/// limits.maxHeader = .kibibytes(32)
/// ```
public struct LimitSettings: Sendable {
    /// The maximum size of a request line in bytes (`limits.max-request-line`), from 64 B to 1 MiB. A longer one gets 414.
    ///
    /// The default is 8 KiB.
    public var maxRequestLine: ByteCount = .kibibytes(16)
    /// The maximum size of all header fields of a request in bytes (`limits.max-header`), from 64 B to 1 MiB. A larger header gets 431.
    ///
    /// The default is 16 KiB.
    public var maxHeader: ByteCount = .kibibytes(16)
    /// The maximum number of header fields of a request (`limits.header-fields`), from 1 to 10 000. More fields get 431. The default is
    /// 100.
    public var headerFields = 100
    /// The maximum size of a request body in bytes (`limits.max-body`), unless the route has its own limit. A larger body gets 413.
    ///
    /// The range is 64 B to 1 GiB. The default is 64 KiB.
    public var maxBody: ByteCount = .kibibytes(64)
    /// The maximum size of all request bodies in progress on a listener in bytes (`limits.total-body-bytes`). Beyond it, the response is
    /// 503.
    ///
    /// The default is 64 MiB.
    public var totalBodyBytes: ByteCount = .mebibytes(64)
    /// The maximum number of bytes of responses that wait for slow clients, over all connections of a listener (`limits.total-output-bytes`). The
    /// default is 256 MiB.
    public var totalOutputBytes: ByteCount = .mebibytes(256)
    /// The maximum size of the chunk extensions of one body in bytes (`limits.max-chunk-extensions`). Larger ones get 400.
    ///
    /// The default is 4 KiB. RFC 9112 section 7.1.1 defines the extensions.
    public var maxChunkExtensions: ByteCount = .kibibytes(4)
    /// The maximum size of the trailer fields of a request in bytes (`limits.max-trailers`). Larger ones get 400. The default is 4 KiB.
    public var maxTrailers: ByteCount = .kibibytes(4)
    /// The timeout from the first byte of a request to the end of its header (`limits.header-timeout`). After it, the response is 408.
    ///
    /// The default is 10 s.
    public var headerTimeout: Duration = .seconds(10)
    /// The timeout from the end of the header to the end of the body (`limits.body-timeout`). After it, the response is 408.
    ///
    /// The default is 30 s.
    public var bodyTimeout: Duration = .seconds(30)
    /// The minimum rate of a request body in bytes per second, after the first five seconds (`limits.min-body-rate`). The default is 240.
    public var minBodyRate: ByteCount = 240
    /// The time after which a connection without a request is closed (`limits.keep-alive-timeout`). The default is 60 s.
    public var keepAliveTimeout: Duration = .seconds(60)
    /// The time in which a client must receive some bytes of a waiting response (`limits.write-timeout`). The default is 30 s.
    public var writeTimeout: Duration = .seconds(30)
    /// The timeout for the production of a response (`limits.request-timeout`). After it, the response is 503. The default is 10 s.
    public var requestTimeout: Duration = .seconds(10)
    /// The maximum number of requests on one connection (`limits.requests-per-connection`). The default is 1 000.
    ///
    /// The last response has `Connection: close`.
    public var requestsPerConnection = 1_000
    /// The maximum age of a connection (`limits.max-connection-age`). The first response after it has `Connection: close`. The default is 1
    /// h.
    public var maxConnectionAge: Duration = .seconds(3_600)
    /// The maximum number of connections in total (`limits.connections`), from 1 to 1 000 000. The default is 10 000.
    ///
    /// From four fifths of it, the connections that are idle longest are closed. At the limit, a new connection gets 503.
    public var connections = 10_000
    /// The maximum number of connections from one address (`limits.connections-per-peer`), from 1 to 1 000 000. The default is 256.
    public var connectionsPerPeer = 256
    /// The rate limit of an address in writes per minute (`limits.writes-per-address`). The default is 600.
    ///
    /// Actions, events and registrations of clients are counted separately. For IPv6, the limit applies to one network (/64).
    public var writesPerAddress = 600
    /// The maximum number of recorded ad decisions per minute of one address (`limits.decisions-per-address`). The default is 6 000.
    ///
    /// For IPv6, it applies to one network (/64). Beyond it, pages have house ads.
    public var decisionsPerAddress = 6_000
    /// The rate limit of a viewer in writes per minute (`limits.writes-per-viewer`). Beyond it, the response is 429. The default is 120.
    public var writesPerViewer = 120
    /// The maximum number of rejected bearer tokens per minute of one address (`limits.rejected-tokens-per-address`). The default is 600.
    ///
    /// For IPv6, it applies to one network (/64). Further tokens are not verified.
    public var rejectedTokensPerAddress = 600
    /// The size of buffered responses of one client in bytes from which its requests are not read (`limits.output-buffer`).
    ///
    /// The range is 1 KiB to 1 GiB. The default is 256 KiB.
    public var outputBuffer: ByteCount = .kibibytes(256)
    /// The maximum number of event stream subscribers (`limits.event-streams`), from 0 to 1 000 000. The default is 10 000.
    ///
    /// 2 % of ``connections`` are reserved for other requests.
    public var eventStreams = 10_000

    /// Creates limits with the default values.
    public init() {}
}

/// The settings `cors.*`: the pages of other origins that may call the service from a browser.
///
/// ```swift
/// var cors = CORSSettings()
/// cors.origins = ["https://app.example.com"]
/// cors.credentials = true
/// ```
public struct CORSSettings: Sendable {
    /// The origins as browsers send them, such as `https://app.example.com`; or `*` alone (`cors.origins`). It is empty by default.
    public var origins: [String] = []
    /// True if requests of those pages may carry credentials such as cookies (`cors.credentials`). It must be false with `*`.
    ///
    /// The default is false.
    public var credentials = false
    /// The time for which browsers may cache the response to a preflight request (`cors.max-age`). The default is 10 min.
    public var maxAge: Duration = .seconds(600)

    /// Creates settings without allowed origins.
    public init() {}
}

/// The settings `web-client.*` of the web client.
public struct WebClientSettings: Sendable {
    /// The setting `web-client.enabled`: true if the web client is served.
    public var isEnabled = true

    /// Creates settings with the default values.
    public init() {}
}
