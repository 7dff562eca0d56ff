internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives

extension ServerSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("server.host", &host, allowed: "an IP address, or localhost", where: HTTPServerConfiguration.isAddress)
        reader.read("server.port", &port, in: 0...65_535)
        reader.read(
            "server.public-url", &publicURL, allowed: "empty, or an http or https URL without query, fragment or trailing slash",
            where: { $0.isEmpty || Self.isBase($0) })
        reader.read(
            "server.trusted-proxies", &trustedProxies, allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil })
        reader.read(
            "server.user-agent", &userAgent, allowed: "1 to 256 visible ASCII characters and spaces",
            where: {
                (1...256).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !$0.hasPrefix(" ")
                    && !$0.hasSuffix(" ")
            })
        reader.read("server.shutdown-delay", &shutdownDelay)
        reader.read("server.shutdown-timeout", &shutdownTimeout)
        limits.read(&reader)
    }

    var proxies: TrustedNetworks { TrustedNetworks(trustedProxies.compactMap(Network.init)) }

    private static func isBase(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix), text.utf8.count > scheme.utf8.count else { return false }
        return !text.hasSuffix("/") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#"?#"<>\^`{|}"#.utf8.contains($0) }
    }
}

extension LimitSettings {
    var effectiveEventStreams: Int { min(eventStreams, connections - connections / 50) }

    mutating func read(_ reader: inout SettingsReader) {
        let small = 64...1 << 20
        let times: ClosedRange<Duration> = .milliseconds(10) ... .seconds(604_800)
        reader.read("limits.max-request-line", &maxRequestLine, in: small)
        reader.read("limits.max-header", &maxHeader, in: small)
        reader.read("limits.header-fields", &headerFields, in: 1...10_000)
        reader.read("limits.max-body", &maxBody, in: 64...1 << 30)
        reader.read("limits.total-body-bytes", &totalBodyBytes, in: 64...1 << 40)
        reader.read("limits.total-output-bytes", &totalOutputBytes, in: 1 << 20...1 << 40)
        reader.read("limits.max-chunk-extensions", &maxChunkExtensions, in: small)
        reader.read("limits.max-trailers", &maxTrailers, in: small)
        reader.read("limits.header-timeout", &headerTimeout, in: times)
        reader.read("limits.body-timeout", &bodyTimeout, in: times)
        reader.read("limits.min-body-rate", &minBodyRate)
        reader.read("limits.keep-alive-timeout", &keepAliveTimeout, in: times)
        reader.read("limits.write-timeout", &writeTimeout, in: times)
        reader.read("limits.request-timeout", &requestTimeout, in: times)
        reader.read("limits.requests-per-connection", &requestsPerConnection, in: 1...Int(Int32.max))
        reader.read("limits.max-connection-age", &maxConnectionAge, in: times)
        reader.read("limits.connections", &connections, in: 1...1_000_000)
        reader.read("limits.connections-per-peer", &connectionsPerPeer, in: 1...1_000_000)
        reader.read("limits.writes-per-address", &writesPerAddress, in: 1...1_000_000)
        reader.read("limits.decisions-per-address", &decisionsPerAddress, in: 1...1_000_000)
        reader.read("limits.writes-per-viewer", &writesPerViewer, in: 1...1_000_000)
        reader.read("limits.rejected-tokens-per-address", &rejectedTokensPerAddress, in: 1...1_000_000)
        reader.read("limits.output-buffer", &outputBuffer, in: 1 << 10...1 << 30)
        reader.read("limits.event-streams", &eventStreams, in: 0...1_000_000)
    }
}

extension CORSSettings {
    private static let anyOrigin = CORSPolicy.anyOrigin

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "cors.origins", &origins,
            allowed: "origins such as https://app.example.com or capacitor://localhost, without a path; null; or * alone",
            where: Self.isOrigin)
        let origins = origins
        reader.check(
            origins.count <= 1 || !origins.contains(Self.anyOrigin), "cors.origins: * must be the only origin")
        reader.read(
            "cors.credentials", &credentials, allowed: "true or false; false if cors.origins is *",
            where: { !$0 || !origins.contains(Self.anyOrigin) })
        reader.read("cors.max-age", &maxAge)
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

    var policy: CORSPolicy? {
        CORSPolicy(origins: origins, credentials: credentials, maxAge: maxAge.milliseconds / 1_000)
    }
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
