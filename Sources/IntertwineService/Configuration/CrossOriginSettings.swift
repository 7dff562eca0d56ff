internal import IntertwinePrimitives
internal import IntertwineRouting

/// `cors.*`: which pages of other origins may call the service from a browser.
public struct CrossOriginSettings: Sendable {
    private static let anyOrigin = CrossOriginPolicy.anyOrigin

    /// Origins as browsers send them, such as `https://app.example.com`; or `*` alone.
    public var origins: [String] = []
    /// Whether those pages' requests may carry cookies and the like; never with `*`.
    public var credentials = false
    /// How long browsers may remember the answer to a preflight.
    public var maxAge: Duration = .seconds(600)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "cors.origins", &origins, allowed: "origins such as https://app.example.com, in lower case and without a path; or * alone",
            where: Self.isOrigin)
        let origins = origins
        reader.check(
            origins.count <= 1 || !origins.contains(Self.anyOrigin), "cors.origins: * stands alone: it is every origin")
        reader.read(
            "cors.credentials", &credentials, allowed: "true or false; false where cors.origins holds *",
            where: { !$0 || !origins.contains(Self.anyOrigin) })
        reader.read("cors.max-age", &maxAge)
    }

    /// An origin's serialization (RFC 6454 section 6.2): scheme, host and port, and nothing after them; without the port that is the
    /// scheme's own, because browsers leave that out.
    private static func isOrigin(_ text: String) -> Bool {
        if text == anyOrigin { return true }
        let schemes: [(prefix: String, port: UInt16)] = [("https://", 443), ("http://", 80)]
        guard let scheme = schemes.first(where: { text.hasPrefix($0.prefix) }) else { return false }
        let authority = text.dropFirst(scheme.prefix.count)
        // The colons of an IPv6 address stand in brackets.
        let end = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let (host, rest) = (authority[..<end], authority[end...])
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        let plain = Array((isAddress ? "abcdef0123456789.:[]" : "abcdefghijklmnopqrstuvwxyz0123456789.-_").utf8)
        guard !host.isEmpty, host.utf8.allSatisfy({ plain.contains($0) }) else { return false }
        if rest.isEmpty { return true }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return false }
        return port != 0 && port != scheme.port && rest.dropFirst() == String(port)
    }

    /// Nil where no origin may.
    var policy: CrossOriginPolicy? {
        CrossOriginPolicy(origins: origins, credentials: credentials, maxAge: maxAge.milliseconds / 1_000)
    }
}
