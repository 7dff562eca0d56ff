internal import IntertwineHTTPServer

/// `server.*`: where the service listens, and what it allows a client.
public struct ServerSettings: Sendable {
    public var host = "127.0.0.1"
    public var port = 8080
    /// Absolute hrefs begin with it; empty for relative ones.
    public var publicURL = ""
    /// How long a stop first answers every request 503, before the service's listener closes.
    public var drain: Duration = .zero
    /// How long a graceful stop waits for answers under way.
    public var grace: Duration = .seconds(10)
    public var limits = LimitSettings()

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("server.host", &host, allowed: "an IP address, or localhost", where: HTTPServerConfiguration.isAddress)
        reader.read("server.port", &port, in: 0...65_535)
        reader.read(
            "server.public-url", &publicURL, allowed: "empty, or an http or https URL without a trailing slash",
            where: { $0.isEmpty || ($0.hasPrefix("http://") || $0.hasPrefix("https://")) && !$0.hasSuffix("/") })
        reader.read("server.drain", &drain)
        reader.read("server.grace", &grace)
        limits.read(&reader)
    }
}

/// `viewer.*`: the page that shows the feed in a browser.
public struct ViewerSettings: Sendable {
    public var isServed = true

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("viewer.enabled", &isServed)
    }
}
