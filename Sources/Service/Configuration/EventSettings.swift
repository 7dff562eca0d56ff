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
    public var viewerHeader: String
    public var address: Address
    /// A second click of the same viewer, or of the same address and user agent, on the same ad within it is a duplicate.
    public var window: Duration
    /// Counted clicks per viewer and per address in a minute.
    public var rate: Int
    /// How long a click or impression token counts; an expired one still redirects.
    public var tokenLifetime: Duration
    /// Whether answers tell the verdict in `X-Verdict`.
    public var tellVerdict: Bool
    /// Whether `X-Forwarded-For` names the client; only behind a proxy that sets it.
    public var trustForwarded: Bool

    init(_ reader: inout SettingsReader) throws {
        viewerHeader = try reader.read(
            "events.viewer-header", default: "X-Viewer-ID", allowed: "a field name, or nothing",
            where: { $0.utf8.allSatisfy { $0 == 0x2D || $0.isASCIIAlphanumeric } })
        address = try reader.read("events.address", default: Address.truncated)
        window = try reader.read("events.window", default: .seconds(60))
        rate = try reader.read("events.rate", default: 30, in: 1...1_000_000)
        tokenLifetime = try reader.read(
            "events.token-lifetime", default: .seconds(86_400), allowed: "\(Duration.allowed), at least 1h",
            where: { $0 >= .seconds(3_600) })
        tellVerdict = try reader.read("events.tell-verdict", default: false)
        trustForwarded = try reader.read("events.trust-forwarded", default: false)
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
