internal import IntertwineFetch
internal import IntertwineImages
internal import IntertwinePrimitives

/// `images.*`: the image proxy.
public struct ImageSettings: Sendable {
    /// Networks allowed although their addresses are private, in CIDR notation.
    public var allowedNetworks: [String] = []
    public var allowedPorts: [UInt16] = [80, 443]
    /// Where not empty, only pictures of these hosts.
    public var allowedHosts: [String] = []
    public var deniedHosts: [String] = []
    /// How long an image URL is valid at least, from the last time that it is handed out.
    public var lifetime: Duration = .seconds(7 * 86_400)
    /// How long a picture has one URL.
    public var rotation: Duration = .seconds(30 * 86_400)
    public var memory: ByteCount = .mebibytes(64)
    public var disk: ByteCount = .gibibytes(2)
    /// The largest picture.
    public var size: ByteCount = .mebibytes(8)
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    /// How long a download may wait for its turn.
    public var patience: Duration = .seconds(2)
    /// How long a download that nobody waits for is kept for somebody who scrolls back.
    public var grace: Duration = .milliseconds(100)
    /// How long fetching one picture may take in all.
    public var deadline: Duration = .seconds(12)
    /// How long connecting to an origin may take, with the TLS handshake.
    public var connectTimeout: Duration = .seconds(3)
    /// How long an origin may take from the request to the end of its answer's head.
    public var headTimeout: Duration = .seconds(5)
    /// How many redirects are followed.
    public var redirects = 3
    /// How long a picture is fresh at the least, where its origin does not forbid it.
    public var shortest: Duration = .seconds(300)
    /// How long it may be served stale while it is fetched anew, and where its origin fails, if that one says nothing about it.
    public var staleWhileRevalidate: Duration = .zero
    public var staleIfError: Duration = .zero
    /// What differs for certain hosts.
    public var freshness: [String] = []
    /// Where pictures lie that are not asked for at their URLs.
    public var sources: [String] = []

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "images.allowed-networks", &allowedNetworks, allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil })
        reader.read("images.allowed-ports", &allowedPorts, allowed: "ports from 1 to 65535", where: { $0 > 0 })
        reader.read("images.allowed-hosts", &allowedHosts, allowed: Self.hosts, where: { HostPattern($0) != nil })
        reader.read("images.denied-hosts", &deniedHosts, allowed: Self.hosts, where: { HostPattern($0) != nil })
        reader.read("images.lifetime", &lifetime, in: .seconds(3_600) ... .seconds(365 * 86_400))
        reader.read("images.rotation", &rotation, in: .seconds(86_400) ... .seconds(365 * 86_400))
        reader.read("images.memory", &memory)
        reader.read("images.disk", &disk)
        reader.read("images.size", &size, in: 1 << 10...1 << 30)
        reader.read("images.downloads", &downloads, in: 1...10_000)
        reader.read("images.downloads-per-host", &downloadsPerHost, in: 1...10_000)
        reader.read("images.queue", &queue, in: 0...1_000_000)
        reader.read("images.patience", &patience)
        reader.read("images.grace", &grace)
        reader.read("images.deadline", &deadline)
        let timeouts: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)
        reader.read("images.connect-timeout", &connectTimeout, in: timeouts)
        reader.read("images.head-timeout", &headTimeout, in: timeouts)
        reader.read("images.redirects", &redirects, in: 0...20)
        let ages: ClosedRange<Duration> = .zero ... .seconds(30 * 86_400)
        reader.read("images.shortest", &shortest, in: ages)
        reader.read("images.stale-while-revalidate", &staleWhileRevalidate, in: ages)
        reader.read("images.stale-if-error", &staleIfError, in: ages)
        reader.read(
            "images.sources", &sources, allowed: PicturePlace.allowed, where: { PicturePlace(setting: $0, credentials: nil) != nil })
        reader.read(
            "images.freshness", &freshness, allowed: HostFreshness.allowed,
            where: { HostFreshness(setting: $0, base: FreshnessPolicy()) != nil })
    }

    private static let hosts = "host names such as pictures.example.com, or *.example.com"
}
