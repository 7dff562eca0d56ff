internal import Crypto
internal import Foundation
public import IntertwineDeclarations
internal import IntertwineFeed
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
    public var memoryCache: ByteCount = .mebibytes(64)
    public var disk: ByteCount = .gibibytes(2)
    /// The largest picture.
    public var size: ByteCount = .mebibytes(8)
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    /// How long a download may wait for its turn.
    public var queueTimeout: Duration = .seconds(2)
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
    /// The program that resizes pictures; where empty, the one beside the service's own. And how many processes of it; 0 for two a processor.
    public var worker = ""
    public var workers = 0
    /// How long one of them may take for a picture.
    public var workerTimeout: Duration = .seconds(10)
    /// How long a picture is fresh at the least, where its origin does not forbid it.
    public var shortest: Duration = .seconds(300)
    /// How long it may be served stale while it is fetched anew, and where its origin fails, if that one says nothing about it.
    public var staleWhileRevalidate: Duration = .zero
    public var staleIfError: Duration = .zero
    /// The newer formats that sized pictures are made in, for those who take them, the preferred one first.
    public var formats: [String] = ["avif", "webp"]
    /// How hard sized pictures are compressed, by format and scale.
    public var quality: [String] = []
    /// Percent of the time in which the pictures of the page that a reader comes to next are made ahead; 0 for not at all.
    public var prefetchPages = 0
    /// Of how many pictures it is known what they look like.
    public var known = 100_000
    /// What is shown in the place of pictures that cannot be had, by the names of parts.
    public var fallbacks: [String] = []
    /// What differs for certain hosts.
    public var freshness: [String] = []
    /// Where pictures lie that are not asked for at their URLs.
    public var sources: [String] = []
    /// Who asks the buckets among those places; nil for anybody. Settings that are read have those of the environment.
    public var bucketCredentials: BucketCredentials?

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "images.allowed-networks", &allowedNetworks, allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil })
        reader.read("images.allowed-ports", &allowedPorts, allowed: "ports from 1 to 65535", where: { $0 > 0 })
        reader.read("images.allowed-hosts", &allowedHosts, allowed: Self.hosts, where: { HostPattern($0) != nil })
        reader.read("images.denied-hosts", &deniedHosts, allowed: Self.hosts, where: { HostPattern($0) != nil })
        reader.read("images.lifetime", &lifetime, in: .seconds(3_600) ... .seconds(365 * 86_400))
        reader.read("images.rotation", &rotation, in: .seconds(86_400) ... .seconds(365 * 86_400))
        reader.read("images.memory", &memoryCache)
        reader.read("images.disk", &disk)
        reader.read("images.size", &size, in: 1 << 10...1 << 30)
        reader.read("images.downloads", &downloads, in: 1...10_000)
        reader.read("images.downloads-per-host", &downloadsPerHost, in: 1...10_000)
        reader.read("images.queue", &queue, in: 0...1_000_000)
        reader.read("images.patience", &queueTimeout)
        reader.read("images.grace", &grace)
        reader.read("images.deadline", &deadline)
        let timeouts: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)
        reader.read("images.connect-timeout", &connectTimeout, in: timeouts)
        reader.read("images.head-timeout", &headTimeout, in: timeouts)
        reader.read("images.redirects", &redirects, in: 0...20)
        reader.read("images.worker", &worker, allowed: "empty, or a program's path")
        reader.read("images.workers", &workers, in: 0...256)
        reader.read("images.worker-timeout", &workerTimeout, in: .milliseconds(100) ... .seconds(300))
        let ages: ClosedRange<Duration> = .zero ... .seconds(30 * 86_400)
        reader.read("images.shortest", &shortest, in: ages)
        reader.read("images.stale-while-revalidate", &staleWhileRevalidate, in: ages)
        reader.read("images.stale-if-error", &staleIfError, in: ages)
        reader.read("images.formats", &formats, allowed: "avif, webp", where: { ["avif", "webp"].contains($0) })
        reader.read(
            "images.quality", &quality, allowed: EncodingQualities.allowed,
            where: {
                var qualities = EncodingQualities()
                return qualities.read(setting: $0)
            })
        reader.read("images.warm-ahead", &prefetchPages, in: 0...50)
        reader.read("images.known", &known, in: 2...10_000_000)
        reader.read("images.fallbacks", &fallbacks, allowed: Self.fallbackForms, where: { Self.fallback($0) != nil })
        reader.read(
            "images.sources", &sources, allowed: ImageSource.allowed, where: { ImageSource(setting: $0, credentials: nil) != nil })
        reader.read(
            "images.freshness", &freshness, allowed: HostFreshness.allowed,
            where: { HostFreshness(setting: $0, base: FreshnessPolicy()) != nil })
    }

    private static let hosts = "host names such as pictures.example.com, or *.example.com"
}

extension ImageSettings {
    var policy: AddressPolicy {
        AddressPolicy(
            allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts),
            allowedHosts: allowedHosts.compactMap(HostPattern.init), deniedHosts: deniedHosts.compactMap(HostPattern.init))
    }

    /// The same for what is called beside pictures: any host, but for those that are denied.
    var trackerPolicy: AddressPolicy {
        var policy = policy
        policy.allowedHosts = []
        return policy
    }

    private static let fallbackForms =
        "a part's name with initials or a file, such as avatar=initials or content=/etc/intertwine/content.png"

    /// - Parameter setting: an element of `images.fallbacks`.
    private static func fallback(_ setting: String) -> (part: String, file: String?)? {
        let words = setting.split(separator: "=", maxSplits: 1).map(String.init)
        guard words.count == 2, ImageFallback(part: words[0]) != nil, words[1] == "initials" || words[1].hasPrefix("/") else {
            return nil
        }
        return (words[0], words[1] == "initials" ? nil : words[1])
    }

    /// Empty for initials.
    ///
    /// - Throws: `ConfigurationError` where a file is none, or no picture.
    func fallbackImages() throws(ConfigurationError) -> [String: [UInt8]] {
        var pictures: [String: [UInt8]] = [:]
        for (part, file) in fallbacks.compactMap(Self.fallback) {
            guard let file else {
                pictures[part] = []
                continue
            }
            guard let data = FileManager.default.contents(atPath: file), data.count <= size.bytes, ImageFormat.isImage(Array(data)) else {
                throw ConfigurationError("images.fallbacks: \(file) cannot be read, or is no whole picture")
            }
            pictures[part] = Array(data)
        }
        return pictures
    }

    /// What mints and verifies the URLs of pictures.
    func signer(_ keys: SigningKeys) throws(ConfigurationError) -> ImageURLSigner {
        let hours = UInt32(clamping: lifetime.milliseconds / 3_600_000)
        let rotation = UInt32(clamping: rotation.milliseconds / 3_600_000)
        guard let signer = ImageURLSigner(keys: Self.secrets(keys), horizonHours: hours, rotationHours: rotation) else {
            throw ConfigurationError("signing.key: cannot be used for image URLs")
        }
        return signer
    }

    /// What the signer signs with, by the keys in force.
    static func secrets(_ keys: SigningKeys) -> [[UInt8]] {
        keys.accepted.map { $0.derived(for: SigningPurpose(rawValue: "image")).withUnsafeBytes { Array($0) } }
    }

    /// Longer than anything that a client waits for: a name, a turn, the fetch, and the pause before a second attempt.
    var timeLimit: Duration { .seconds(4) + queueTimeout + deadline }

    /// What resizes pictures.
    var workerConfiguration: ImageWorkers.Configuration {
        var configuration = ImageWorkers.Configuration()
        configuration.path = worker.isEmpty ? nil : worker
        configuration.count = workers > 0 ? workers : 2 * ImageWorkers.Configuration.processors
        configuration.timeLimit = workerTimeout
        return configuration
    }

    /// - Parameter folder: where pictures are kept on disk; not used where no room is given to them.
    func configuration(folder: String) -> ImageConfiguration {
        var configuration = ImageConfiguration()
        configuration.memoryBytes = memoryCache.bytes
        configuration.folder = disk.bytes > 0 ? folder : nil
        configuration.diskBytes = disk.bytes
        configuration.downloads = downloads
        configuration.downloadsPerHost = downloadsPerHost
        configuration.queue = queue
        configuration.queueTimeout = queueTimeout
        configuration.grace = grace
        configuration.formats = formats.compactMap { ["avif": ImageFormat.avif, "webp": .webp][$0] }
        for each in quality { configuration.qualities.read(setting: each) }
        configuration.limits.bodyBytes = size.bytes
        configuration.limits.total = deadline
        configuration.limits.connect = connectTimeout
        configuration.limits.head = headTimeout
        configuration.limits.redirects = redirects
        configuration.freshness.minTTL = shortest.milliseconds / 1_000
        configuration.freshness.staleWhileRevalidate = staleWhileRevalidate.milliseconds / 1_000
        configuration.freshness.staleIfError = staleIfError.milliseconds / 1_000
        let credentials = bucketCredentials.map { S3Bucket.Credentials(accessKey: $0.accessKey, secret: $0.secret, token: $0.token) }
        configuration.sources = sources.compactMap { ImageSource(setting: $0, credentials: credentials) }
        let base = configuration.freshness
        configuration.hostFreshness = freshness.compactMap { HostFreshness(setting: $0, base: base) }
        return configuration
    }
}

extension EncodingQualities {
    static let allowed = "a format with a quality from 1 to 100, for all scales or for one, such as webp=75 or webp@2x=60"

    /// Reads an element of `images.quality`. PNG and GIF lose nothing, whatever is said.
    @discardableResult
    mutating func read(setting: String) -> Bool {
        let parts = setting.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let quality = Int(parts[1]), (1...100).contains(quality) else { return false }
        let names = parts[0].split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        let kinds: [String: ImageFormat] = ["avif": .avif, "webp": .webp, "jpeg": .jpeg]
        guard names.count <= 2, let kind = names.first.flatMap({ kinds[$0] }) else { return false }
        let scale = names.count == 2 ? ProcessingOptions.scales.first { names[1] == "\($0)x" } : nil
        guard names.count == 1 || scale != nil else { return false }
        set(quality, of: kind, scale: scale)
        return true
    }
}

extension HostFreshness {
    static let allowed =
        "a host and what differs there, such as 'pictures.example.com shortest=0s' or '*.example.com default=1h longest=7d "
        + "stale-while-revalidate=1h stale-if-error=1d'"

    /// Reads an element of `images.freshness`: a host, and settings of its own with durations. What is not named is as everywhere.
    init?(setting: String, base: FreshnessPolicy) {
        let words = setting.split(separator: " ")
        guard let host = words.first.flatMap({ HostPattern(String($0)) }), words.count > 1 else { return nil }
        var policy = base
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let time = Duration(setting: parts[1]), (.zero...(.seconds(365 * 86_400))).contains(time) else {
                return nil
            }
            let seconds = time.milliseconds / 1_000
            switch parts[0] {
            case "shortest": policy.minTTL = seconds
            case "longest": policy.maxTTL = seconds
            case "default": (policy.defaultTTL, policy.heuristicMaxTTL) = (seconds, seconds)
            case "stale-while-revalidate": policy.staleWhileRevalidate = seconds
            case "stale-if-error": policy.staleIfError = seconds
            default: return nil
            }
        }
        self.init(host, policy)
    }
}

extension ImageSource {
    static let allowed =
        "URLs ending in a slash and where their pictures lie, such as 'https://pictures.example.com/ folder:/srv/pictures' or "
        + "'https://media.example.com/ s3:https://s3.eu-central-1.amazonaws.com/bucket/ region=eu-central-1'"

    /// Reads an element of `images.sources`.
    init?(setting: String, credentials: S3Bucket.Credentials?) {
        let words = setting.split(separator: " ").map(String.init)
        guard words.count >= 2, let prefix = try? FetchURL(words[0]) else { return nil }
        let store: Store
        if let path = words[1].suffix(behind: "folder:"), words.count == 2, let folder = SandboxedDirectory(path) {
            store = .folder(folder)
        } else if let text = words[1].suffix(behind: "s3:"), text.hasSuffix("/"), words.count <= 3, let endpoint = try? FetchURL(text) {
            guard let region = words.count == 3 ? words[2].suffix(behind: "region=") : "us-east-1", !region.isEmpty else { return nil }
            store = .bucket(S3Bucket(endpoint: endpoint, region: region, credentials: credentials))
        } else {
            return nil
        }
        self.init(prefix: prefix, store: store)
    }
}

/// What proves to buckets that speak Amazon's S3 who asks. A secret.
public struct BucketCredentials: Sendable, Hashable {
    public var accessKey: String
    public var secret: String
    public var token: String?

    public init(accessKey: String, secret: String, token: String? = nil) {
        (self.accessKey, self.secret, self.token) = (accessKey, secret, token)
    }

    /// Under the names that all tools for S3 know; nil where they are not set.
    init?(environment: [String: String]) {
        guard let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"], !key.isEmpty, !secret.isEmpty
        else { return nil }
        self.init(accessKey: key, secret: secret, token: environment["AWS_SESSION_TOKEN"])
    }
}

extension String {
    fileprivate func suffix(behind prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
