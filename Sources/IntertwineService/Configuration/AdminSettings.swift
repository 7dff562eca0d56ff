internal import IntertwineHTTPServer

/// `admin.*`: the operators' listener.
public struct AdminSettings: Sendable {
    /// Whether there is one at all.
    public var isServed = true
    public var host = "127.0.0.1"
    public var port = 8081
    /// What a request must carry as `Authorization: Bearer`; empty for nothing, on a loopback address alone.
    public var token = ""
    /// Bytes of one import.
    public var importLimit: ByteCount = .gibibytes(1)
    /// How long one import may take.
    public var importDeadline: Duration = .seconds(3_600)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("admin.enabled", &isServed)
        reader.read("admin.host", &host, allowed: "an IP address, or localhost", where: HTTPServerConfiguration.isAddress)
        reader.read("admin.port", &port, in: 0...65_535)
        reader.read(
            "admin.token", &token,
            allowed: "8 to 512 visible ASCII characters; or nothing, where admin.host (\(host)) is a loopback address", secret: true,
            where: { $0.isEmpty || (8...512).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        reader.read(
            "admin.import-limit", &importLimit, allowed: "\(ByteCount.allowed), at least 1", where: { $0.bytes > 0 })
        reader.read("admin.import-deadline", &importDeadline, in: .seconds(1) ... .seconds(604_800))
        reader.check(
            !token.isEmpty || Self.isLoopback(host),
            "admin.token: must be set where admin.host is not a loopback address; admin.host is '\(host)'")
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1" || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
