internal import Fetch

/// `images.*`: the image proxy.
public struct ImageSettings: Sendable {
    /// Networks allowed although their addresses are private, in CIDR notation.
    public var allowedNetworks: [String]
    public var allowedPorts: [UInt16]
    /// Where not empty, only pictures of these hosts.
    public var allowedHosts: [String]
    public var deniedHosts: [String]
    /// How long an image URL is valid.
    public var lifetime: Duration
    public var memory: ByteCount
    public var disk: ByteCount
    /// The largest picture.
    public var size: ByteCount
    public var downloads: Int
    public var downloadsPerHost: Int
    public var queue: Int
    /// How long a download may wait for its turn.
    public var patience: Duration
    /// How long a download that nobody waits for is kept for somebody who scrolls back.
    public var grace: Duration
    /// How long fetching one picture may take in all.
    public var deadline: Duration
    /// How long a picture is fresh at the least, where its origin does not forbid it.
    public var shortest: Duration

    init(_ reader: inout SettingsReader) throws {
        allowedNetworks = try reader.readList(
            "images.allowed-networks", default: [], allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil })
        let ports = try reader.readList(
            "images.allowed-ports", default: ["80", "443"], allowed: "ports from 1 to 65535", where: { (UInt16($0) ?? 0) > 0 })
        allowedPorts = ports.compactMap { UInt16($0) }
        allowedHosts = try reader.readList("images.allowed-hosts", default: [], allowed: Self.hosts, where: { HostPattern($0) != nil })
        deniedHosts = try reader.readList("images.denied-hosts", default: [], allowed: Self.hosts, where: { HostPattern($0) != nil })
        lifetime = try reader.read(
            "images.lifetime", default: .seconds(7 * 86_400), allowed: "\(Duration.allowed), from 1h to 365d",
            where: { (.seconds(3_600)...(.seconds(365 * 86_400))).contains($0) })
        memory = try reader.read("images.memory", default: ByteCount(integerLiteral: 64 << 20))
        disk = try reader.read("images.disk", default: ByteCount(integerLiteral: 2 << 30))
        size = try reader.read(
            "images.size", default: ByteCount(integerLiteral: 8 << 20), allowed: "\(ByteCount.allowed), from 1KiB to 1GiB",
            where: { (1 << 10...1 << 30).contains($0.bytes) })
        downloads = try reader.read("images.downloads", default: 64, in: 1...10_000)
        downloadsPerHost = try reader.read("images.downloads-per-host", default: 6, in: 1...10_000)
        queue = try reader.read("images.queue", default: 256, in: 0...1_000_000)
        patience = try reader.read("images.patience", default: .seconds(2))
        grace = try reader.read("images.grace", default: .milliseconds(100))
        deadline = try reader.read("images.deadline", default: .seconds(12))
        shortest = try reader.read(
            "images.shortest", default: .seconds(300), allowed: "\(Duration.allowed), up to 30d",
            where: { (.zero...(.seconds(30 * 86_400))).contains($0) })
    }

    private static let hosts = "host names such as pictures.example.com, or *.example.com"
}
