/// `admin.*`: the operators' listener.
public struct AdminSettings: Sendable {
    public var host: String
    public var port: Int
    /// What a request must carry as `Authorization: Bearer`; empty for nothing, on a loopback address alone.
    public var token: String
    /// Bytes of one import.
    public var importLimit: ByteCount
    /// How long one import may take.
    public var importDeadline: Duration

    init(_ reader: inout SettingsReader) throws {
        let host = try reader.read("admin.host", default: "127.0.0.1", allowed: "an IP address", where: { !$0.isEmpty })
        self.host = host
        port = try reader.read("admin.port", default: 8081, in: 0...65_535)
        token = try reader.read(
            "admin.token", default: "",
            allowed: "8 to 512 visible ASCII characters; or nothing, where admin.host (\(host)) is a loopback address", secret: true,
            where: { $0.isEmpty || (8...512).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        importLimit = try reader.read(
            "admin.import-limit", default: ByteCount(integerLiteral: 1 << 30), allowed: "\(ByteCount.allowed), at least 1",
            where: { $0.bytes > 0 })
        importDeadline = try reader.read(
            "admin.import-deadline", default: .seconds(3_600), allowed: "\(Duration.allowed), from 1s to 7d",
            where: { (.seconds(1)...(.seconds(604_800))).contains($0) })
        guard !token.isEmpty || Self.isLoopback(host) else {
            throw ConfigurationError("admin.token: must be set where admin.host is not a loopback address; admin.host is '\(host)'")
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1" || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
