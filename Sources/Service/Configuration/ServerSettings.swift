/// `server.*`: where the service listens, and what it allows a client.
public struct ServerSettings: Sendable {
    public var host: String
    public var port: Int
    /// Absolute hrefs begin with it; empty for relative ones.
    public var publicURL: String
    /// How long a graceful stop waits for answers under way.
    public var grace: Duration
    public var limits: LimitSettings

    init(_ reader: inout SettingsReader) throws {
        host = try reader.read("server.host", default: "127.0.0.1", allowed: "an IP address", where: { !$0.isEmpty })
        port = try reader.read("server.port", default: 8080, in: 0...65_535)
        publicURL = try reader.read(
            "server.public-url", default: "", allowed: "empty, or an http or https URL without a trailing slash",
            where: { $0.isEmpty || ($0.hasPrefix("http://") || $0.hasPrefix("https://")) && !$0.hasSuffix("/") })
        grace = try reader.read("server.grace", default: .seconds(10))
        limits = try LimitSettings(&reader)
    }
}
