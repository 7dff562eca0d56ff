/// `events.*`: how clicks, selections and impressions are judged, and what is kept about who made them.
public struct EventSettings: Sendable {
    public enum Address: String, Sendable, CaseIterable {
        /// The first 24 bits of an IPv4 address, the first 48 of an IPv6 one.
        case truncated
        /// A keyed hash whose key changes every day.
        case hashed
        /// Nothing.
        case none
    }

    /// The request field that names the viewer, set by whatever authenticates in front of the service. Empty: there are no viewers.
    public var viewerHeader = "X-Viewer-ID"
    public var address = Address.truncated
    /// A second click of the same viewer, or of the same address and user agent, on the same ad within it is a duplicate.
    public var window: Duration = .seconds(60)
    /// Counted clicks per viewer and per address in a minute.
    public var rate = 30
    /// Counted impressions per viewer and per address in a minute.
    public var impressionRate = 3_000
    /// How long a click or impression token counts; an expired one still redirects.
    public var tokenLifetime: Duration = .seconds(86_400)
    /// Whether answers tell the verdict in `X-Verdict`.
    public var tellVerdict = false
    /// Whether `X-Forwarded-For` names the client; only behind a proxy that sets it.
    public var trustForwarded = false

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "events.viewer-header", &viewerHeader, allowed: "a field name, or nothing",
            where: { $0.utf8.allSatisfy { $0 == 0x2D || $0.isASCIIAlphanumeric } })
        reader.read("events.address", &address)
        reader.read("events.window", &window)
        reader.read("events.rate", &rate, in: 1...1_000_000)
        reader.read("events.impression-rate", &impressionRate, in: 1...1_000_000)
        reader.read(
            "events.token-lifetime", &tokenLifetime, allowed: "\(Duration.allowed), at least 1h", where: { $0 >= .seconds(3_600) })
        reader.read("events.tell-verdict", &tellVerdict)
        reader.read("events.trust-forwarded", &trustForwarded)
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
