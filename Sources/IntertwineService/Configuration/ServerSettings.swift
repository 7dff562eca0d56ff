internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives

/// The settings `server.*` of the service's listener.
public struct ServerSettings: Sendable, SettingsSection {
    @Setting(
        "server.host", "IP address of the service listener. 0.0.0.0 or :: for all interfaces.", allowed: "an IP address, or localhost",
        where: HTTPServerConfiguration.isAddress)
    public var host = "127.0.0.1"
    @Setting("server.port", "TCP port; 0 picks a free one.", in: 0...65_535)
    public var port = 8080
    @Setting(
        "server.public-url", "Prefix of absolute hrefs, such as https://feed.example.com; empty for relative ones.", .reload,
        allowed: Self.allowedBase, as: Self.base)
    public var publicURL = ""
    @Setting(
        "server.documents-url",
        "Address of the documentation site that `make site` builds, to which the page at / and the operators' console link; empty for no link.",
        allowed: Self.allowedBase, as: Self.base)
    public var documentsURL = ""
    @Setting(
        "server.trusted-proxies",
        """
        Networks of the proxies in front, such as 10.1.0.0/16. Requests from them may name the client in X-Forwarded-For, the viewer in \
        viewers.header and its attributes in viewers.attributes-header. X-Forwarded-For of other senders is ignored, and a viewer's name \
        or attributes from them get 403.
        """, .reload, allowed: Network.allowed, where: Network.isValid)
    public var trustedProxies = ["127.0.0.0/8", "::1"]
    @Setting(
        "server.shutdown-delay",
        """
        Delay of a stop after SIGTERM or SIGINT: the listener stays open, requests are served with Connection: close, and /readyz is 503. \
        Behind a load balancer: longer than its health checks need to notice. Otherwise 0ms.
        """)
    public var shutdownDelay: Duration = .zero
    @Setting("server.shutdown-timeout", "Timeout of running requests after that.")
    public var shutdownTimeout: Duration = .seconds(10)
    @Setting(
        "server.user-agent",
        """
        User-Agent of the service's own requests: to sources, origins of images, trackers and key sets. Name the address of a page about \
        your service, so that the operators of these servers can reach you.
        """, allowed: "1 to 256 visible ASCII characters and spaces", where: isUserAgent)
    public var userAgent = "Intertwine (+https://intertwine.example/)"
    /// The resource limits of one client.
    public var limits = LimitSettings()

    var proxies: TrustedNetworks { TrustedNetworks(trustedProxies.compactMap(Network.init)) }

    private static func isUserAgent(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !text.hasPrefix(" ")
            && !text.hasSuffix(" ")
    }

    private static let allowedBase = "empty, or an http or https URL of a host without user, query, fragment or trailing slash"

    private static func base(_ text: String) -> String? {
        guard !text.isEmpty else { return text }
        // A fetch reads https:///x as a browser does, as https://x.
        guard let mark = text.firstRange(of: "://"), ["http", "https"].contains(text[..<mark.lowerBound].lowercased()),
            let host = text[mark.upperBound...].split(separator: "/", omittingEmptySubsequences: false).first, !host.isEmpty,
            !host.hasSuffix(":"), !text.hasSuffix("/"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !#"?#"<>\^`{|}"#.utf8.contains($0) }), let url = try? FetchURL(text)
        else { return nil }
        return url.text.hasSuffix("/") ? String(url.text.dropLast()) : url.text
    }
}

extension Network {
    static let allowed = "networks such as 10.1.0.0/16 or fd00::/8"

    static func isValid(_ text: String) -> Bool { Network(text) != nil }
}

/// The settings `limits.*`: resource limits of one client, counted in received bytes. The defaults are those of the threat model.
public struct LimitSettings: Sendable, SettingsSection {
    private static let sizes: ClosedRange<ByteCount> = 64 ... .mebibytes(1)
    private static let times: ClosedRange<Duration> = .milliseconds(10) ... .seconds(604_800)

    @Setting("limits.max-request-line", "Bytes of the request line [414].", in: sizes)
    public var maxRequestLine: ByteCount = .kibibytes(16)
    @Setting("limits.max-header", "Bytes of all header fields [431].", in: sizes)
    public var maxHeader: ByteCount = .kibibytes(16)
    @Setting("limits.header-fields", "Number of header fields [431].", in: 1...10_000)
    public var headerFields = 100
    @Setting("limits.max-body", "Bytes of a request's body, unless the route has its own limit [413].", in: 64 ... .gibibytes(1))
    public var maxBody: ByteCount = .kibibytes(64)
    @Setting("limits.total-body-bytes", "Bytes of all request bodies in transfer, on each listener [503].", in: 64 ... .gibibytes(1_024))
    public var totalBodyBytes: ByteCount = .mebibytes(64)
    @Setting(
        "limits.total-output-bytes",
        "Bytes of all responses that wait for slow clients, on each listener. Beyond it, the connection of the next one is closed.",
        in: .mebibytes(1) ... .gibibytes(1_024))
    public var totalOutputBytes: ByteCount = .mebibytes(256)
    @Setting("limits.max-chunk-extensions", "Bytes of chunk extensions in one body [400].", in: sizes)
    public var maxChunkExtensions: ByteCount = .kibibytes(4)
    @Setting("limits.max-trailers", "Bytes of trailer fields [400].", in: sizes)
    public var maxTrailers: ByteCount = .kibibytes(4)
    @Setting("limits.header-timeout", "Timeout from a request's first byte to the end of its header [408].", in: times)
    public var headerTimeout: Duration = .seconds(10)
    @Setting("limits.body-timeout", "Timeout from the end of the header to the end of the body [408].", in: times)
    public var bodyTimeout: Duration = .seconds(30)
    @Setting("limits.min-body-rate", "Minimum bytes per second of a body after its first 5 s [408].")
    public var minBodyRate: ByteCount = 240
    @Setting("limits.keep-alive-timeout", "Timeout of a connection without a request.", in: times)
    public var keepAliveTimeout: Duration = .seconds(60)
    @Setting("limits.write-timeout", "A client that receives no byte of a response in this time is disconnected.", in: times)
    public var writeTimeout: Duration = .seconds(30)
    @Setting("limits.request-timeout", "Timeout for producing a response [503].", in: times)
    public var requestTimeout: Duration = .seconds(10)
    @Setting(
        "limits.requests-per-connection", "Requests on one connection; the last response has Connection: close.", in: 1...Int(Int32.max))
    public var requestsPerConnection = 1_000
    @Setting("limits.max-connection-age", "Age of a connection; the first response after it has Connection: close.", in: times)
    public var maxConnectionAge: Duration = .seconds(3_600)
    @Setting(
        "limits.connections",
        "Connections in total. From four fifths of it on, the longest idle ones are closed; at the limit a new one gets 503.",
        in: 1...1_000_000)
    public var connections = 10_000
    @Setting("limits.connections-per-peer", "Connections from one address (of IPv6, a network of 64 bits).", in: 1...1_000_000)
    public var connectionsPerPeer = 256
    @Setting(
        "limits.writes-per-address",
        """
        Rate limit of writes: requests per minute of one address (of IPv6, a network of 64 bits). Actions, events and client registrations \
        are counted separately, in each process [429 with Retry-After]. Behind a proxy, server.trusted-proxies selects the address that \
        counts.
        """, in: 1...1_000_000)
    public var writesPerAddress = 600
    @Setting("limits.writes-per-viewer", "Rate limit of writes of one viewer, counted in the same way.", in: 1...1_000_000)
    public var writesPerViewer = 120
    @Setting(
        "limits.rejected-tokens-per-address",
        """
        Rate limit of rejected bearer tokens: tokens per minute of one address. Beyond it, unknown tokens of the address are not verified \
        [429].
        """, in: 1...1_000_000)
    public var rejectedTokensPerAddress = 600
    @Setting(
        "limits.output-buffer", "Backpressure: bytes of responses buffered for one client before the service stops reading its requests.",
        in: .kibibytes(1) ... .gibibytes(1))
    public var outputBuffer: ByteCount = .kibibytes(256)
    @Setting(
        "limits.event-streams",
        """
        Clients subscribed to live changes (Accept: text/event-stream), each on its own connection. A fiftieth of the connections is \
        reserved for other clients [503].
        """, in: 0...1_000_000)
    public var eventStreams = 10_000

    var effectiveEventStreams: Int { min(eventStreams, connections - connections / 50) }
}

/// The settings `cors.*`: the pages of other origins that may call the service from a browser.
public struct CORSSettings: Sendable, SettingsSection {
    @Setting(
        "cors.origins", "Origins such as https://app.example.com, in lower case and without a path; or * alone. Empty: none.",
        allowed: "origins such as https://app.example.com or capacitor://localhost, without a path; null; or * alone", where: Self.isOrigin)
    public var origins: [String] = []
    @Setting("cors.credentials", "Permits cookies in their requests. Not with *.")
    public var credentials = false
    @Setting("cors.max-age", "Time for which browsers may cache these permissions.")
    public var maxAge: Duration = .seconds(600)

    private static let anyOrigin = CORSPolicy.anyOrigin

    var policy: CORSPolicy? {
        CORSPolicy(origins: origins, credentials: credentials, maxAge: maxAge.milliseconds / 1_000)
    }

    func check(_ faults: inout SettingFaults) {
        let isOpen = origins.contains(Self.anyOrigin)
        faults.check(origins.count <= 1 || !isOpen, "cors.origins: * must be the only origin")
        faults.check(!credentials || !isOpen, "cors.credentials: true is not allowed; allowed: false if cors.origins is *")
    }

    /// Returns true if a text is a serialized origin (RFC 6454 section 6.2): scheme, host and port without anything after them, or `null`.
    /// The default port of a scheme must be absent, because browsers omit it.
    private static func isOrigin(_ text: String) -> Bool {
        if text == anyOrigin || text == "null" { return true }
        guard let separator = text.firstRange(of: "://") else { return false }
        let (scheme, authority) = (text[..<separator.lowerBound], text[separator.upperBound...])
        guard let first = scheme.utf8.first, (0x61...0x7A).contains(first), scheme.utf8.allSatisfy({ schemeCharacters.contains($0) }) else {
            return false
        }
        let defaultPort: UInt16? = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        if defaultPort == nil, authority.isEmpty { return true }
        // The colons of an IPv6 address are in brackets.
        let end = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let (host, rest) = (authority[..<end], authority[end...])
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        let plain = isAddress ? Array("abcdef0123456789.:[]".utf8) : hostCharacters
        let isPlain = host.utf8.allSatisfy { plain.contains(defaultPort == nil ? ($0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0) : $0) }
        guard !host.isEmpty, isPlain else { return false }
        if rest.isEmpty { return true }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return false }
        return port != 0 && port != defaultPort && rest.dropFirst() == String(port)
    }

    private static let schemeCharacters = Array("abcdefghijklmnopqrstuvwxyz0123456789+-.".utf8)
    private static let hostCharacters = Array("abcdefghijklmnopqrstuvwxyz0123456789.-_~".utf8)
}

/// The settings `web-client.*` of the web client.
public struct WebClientSettings: Sendable, SettingsSection {
    @Setting("web-client.enabled", "Enables the page.")
    public var isEnabled = true
}

extension ServiceConfiguration {
    var publicServer: HTTPServerConfiguration {
        var server = limited
        server.host = self.server.host
        server.port = UInt16(clamping: self.server.port)
        return server
    }

    var adminServer: HTTPServerConfiguration {
        var server = limited
        server.host = admin.host
        server.port = UInt16(clamping: admin.port)
        server.loops = 1
        // Imports take long; the minimum body rate bounds their duration.
        server.bodyTimeout = max(server.bodyTimeout, admin.importTimeout)
        return server
    }

    private var limited: HTTPServerConfiguration {
        let limits = server.limits
        var server = HTTPServerConfiguration()
        server.requestLineLimit = limits.maxRequestLine.bytes
        server.fieldBlockLimit = limits.maxHeader.bytes
        server.fieldLimit = limits.headerFields
        server.bodyLimit = limits.maxBody.bytes
        server.bodiesLimit = limits.totalBodyBytes.bytes
        server.outputsLimit = limits.totalOutputBytes.bytes
        server.chunkExtensionLimit = limits.maxChunkExtensions.bytes
        server.trailerLimit = limits.maxTrailers.bytes
        server.headTimeout = limits.headerTimeout
        server.bodyTimeout = limits.bodyTimeout
        server.minimumBodyRate = limits.minBodyRate.bytes
        server.idleTimeout = limits.keepAliveTimeout
        server.writeTimeout = limits.writeTimeout
        server.handlerTimeout = limits.requestTimeout
        server.requestsPerConnection = limits.requestsPerConnection
        server.connectionAge = limits.maxConnectionAge
        server.connectionLimit = limits.connections
        server.connectionsPerPeer = limits.connectionsPerPeer
        server.outputHighWater = limits.outputBuffer.bytes
        return server
    }
}
